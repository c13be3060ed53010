import type { Server } from 'node:http';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Measured } from './config.ts';

const ROUNDS = 3;

/** Collects garbage (the process runs with `--expose-gc`) and counts what is left. */
export async function measure(server: Server): Promise<Measured> {
  for (let round = 0; round < ROUNDS; round += 1) {
    (globalThis as { gc?: () => void }).gc?.();
    await nextRound();
  }
  const resources = process.getActiveResourcesInfo();
  const count = (name: string): number => resources.filter((resource) => resource === name).length;
  return {
    heapBytes: process.memoryUsage().heapUsed,
    connections: await connectionsOf(server),
    sockets: count('TCPSocketWrap'),
    timers: count('Timeout'),
  };
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
