import type { Server } from 'node:http';

/** What a process has done since it began; two readings give what it did between them. */
export interface Reading {
  readonly requests: number;
  /** Of all threads: garbage collection that runs beside the event loop has its price too. */
  readonly cpuMs: number;
  readonly atMs: number;
}

/**
 * Counts requests where they are served, so that requests, CPU time and clock are read at the same moment. Counted by the
 * load they would be read one message later.
 */
export class Meter {
  #requests = 0;

  watch(server: Server): void {
    server.prependListener('request', () => {
      this.#requests += 1;
    });
  }

  read(): Reading {
    const { user, system } = process.cpuUsage();
    return { requests: this.#requests, cpuMs: (user + system) / 1_000, atMs: performance.now() };
  }
}
