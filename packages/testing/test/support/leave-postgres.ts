/** Starts a server, says where, and ends in the way that its argument names, without stopping it. */
import { startPostgres } from '../../src/index.ts';
import { tracesOf } from './traces.ts';

const server = await startPostgres();
console.log(JSON.stringify(await tracesOf(server)));

const ends: Readonly<Record<string, () => void | Promise<void>>> = {
  exit: () => process.exit(3),
  throw: () => {
    throw new Error('thrown on purpose');
  },
  frozen: () => server.freeze(),
  SIGINT: () => void process.kill(process.pid, 'SIGINT'),
  SIGTERM: () => void process.kill(process.pid, 'SIGTERM'),
  SIGKILL: () => void process.kill(process.pid, 'SIGKILL'),
};
await ends[process.argv[2] ?? '']?.();
