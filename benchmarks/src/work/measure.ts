import pg from 'pg';
import { countQueries } from '../support/count-queries.ts';
import { walPosition, walSince } from '../support/wal.ts';
import { cpuBetween, parentOf, readServerCpu, type ServerCpu } from './server-cpu.ts';
import type { Stopwatch, Workload } from './workload.ts';

/** What working off a number of rows cost. */
export interface Slot {
  readonly rowsPerSecond: number;
  /** Of client and server together, in their own time; NaN where the system does not say. */
  readonly rowsPerCpuSecond: number;
  /** Of those, the part of the client, in microseconds for a row. */
  readonly clientMicrosPerRow: number;
  readonly serverMicrosPerRow: number;
  readonly walBytesPerRow: number;
  readonly statementsPerRow: number;
}

interface Moment {
  readonly atMs: number;
  readonly clientMs: number;
  readonly server: ServerCpu;
}

/** Fills, works off, and checks that all is done: who leaves rows behind is fast. */
export class Measurement {
  readonly #admin: pg.Client;
  readonly #postmaster: number;

  private constructor(admin: pg.Client, postmaster: number) {
    this.#admin = admin;
    this.#postmaster = postmaster;
  }

  static async open(connectionString: string): Promise<Measurement> {
    const admin = new pg.Client({ connectionString });
    await admin.connect();
    const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new Measurement(admin, parentOf(rows[0]?.pid ?? Number.NaN));
  }

  async run(workload: Workload, rows: number): Promise<Slot> {
    const before = await workload.count();
    await workload.fill(rows);
    // What autovacuum would do some time, at a time of our choosing.
    await this.#admin.query('vacuum (analyze)');
    const lsn = await walPosition(this.#admin);
    const taken = new Moments(() => this.#now());
    const statements = await countQueries(() => workload.drain(rows, taken));
    const walBytes = await walSince(this.#admin, lsn);
    const { done, live } = await workload.count();
    if (done - before.done !== rows || live !== 0)
      throw new Error(`of ${rows} rows ${done - before.done} are done and ${live} live`);
    return { ...taken.rates(rows), walBytesPerRow: walBytes / rows, statementsPerRow: statements / rows };
  }

  #now(): Moment {
    const { user, system } = process.cpuUsage();
    return { atMs: performance.now(), clientMs: (user + system) / 1_000, server: readServerCpu(this.#postmaster) };
  }
}

class Moments implements Stopwatch {
  readonly #now: () => Moment;
  #began: Moment | null = null;
  #ended: Moment | null = null;

  constructor(now: () => Moment) {
    this.#now = now;
  }

  begin(): void {
    this.#began = this.#now();
  }

  end(): void {
    this.#ended = this.#now();
  }

  rates(rows: number): Omit<Slot, 'walBytesPerRow' | 'statementsPerRow'> {
    if (this.#began === null || this.#ended === null) throw new Error('nothing was timed');
    const [began, ended] = [this.#began, this.#ended];
    const clientMs = ended.clientMs - began.clientMs;
    const serverMs = cpuBetween(began.server, ended.server);
    return {
      rowsPerSecond: (rows * 1_000) / (ended.atMs - began.atMs),
      rowsPerCpuSecond: (rows * 1_000) / (clientMs + serverMs),
      clientMicrosPerRow: (clientMs * 1_000) / rows,
      serverMicrosPerRow: (serverMs * 1_000) / rows,
    };
  }
}
