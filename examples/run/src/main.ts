/** `node src/main.ts <what Node is started with>`, in the folder of an example: two copies of it, and a PostgreSQL. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { startPostgres } from '@leasehold/testing';
import pg from 'pg';
import { Reaper } from '../../../test/support/reaper.ts';
import { Copy } from './copy.ts';

const HELP =
  '"stop 1": as a deploy does · "kill 1": as a crash · "start 1": again · the same with 2 · "end" or Ctrl-C: all of it';

const ports = (process.env['PORTS'] ?? '3001,3002').split(',').map(Number);
const reaper = new Reaper();
const postgres = await startPostgres();
const copies = ports.map((port, index) => {
  const label = `copy-${index + 1}`;
  const { connectionString } = postgres;
  return new Copy({ label, port, connectionString, args: process.argv.slice(2), reaper, print: (line) => console.log(line) });
});
const commands = createInterface({ input: process.stdin });

async function createTables(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.connectionString });
  await client.connect();
  await client.query(await readFile('schema.sql', 'utf8'));
  await client.end();
}

async function obey(line: string): Promise<void> {
  if (line.trim() === 'end') return end();
  const [, what, number] = /^\s*(start|stop|kill)\s+(\d)\s*$/.exec(line) ?? [];
  const copy = copies[Number(number) - 1];
  if (copy === undefined) console.log(HELP);
  else if (copy.isRunning === (what === 'start')) console.log(`it ${copy.isRunning ? 'runs already' : 'does not run'}`);
  else if (what === 'start') await copy.start();
  else await copy.end(what === 'kill' ? 'SIGKILL' : 'SIGTERM');
}

let ending = false;
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  commands.close();
  // Or it would keep this process.
  process.stdin.destroy();
  await Promise.all(copies.map((copy) => copy.end('SIGTERM')));
  await postgres.stop();
  reaper.end();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());
commands.on('line', (line) => void obey(line));
await createTables();
// One after the other, so that the first one holds the role.
let origin: string | null = null;
for (const copy of copies) {
  origin = await copy.start();
  if (origin === null) break;
}
if (origin !== null) {
  console.log(`Open ${origin}\n${HELP}`);
} else {
  console.log(`Where a port is taken, name others; these are PORTS=${ports.join(',')}`);
  process.exitCode = 1;
  await end();
}
