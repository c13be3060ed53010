import type { Claim, ClaimOptions } from './claim.ts';
import type { SqlClient } from './client.ts';
import type { Worker } from './worker/worker.ts';
import type { WorkOptions } from './worker/work-options.ts';

/** An application's own table whose rows workers on any instance claim, work on and settle. */
export interface WorkTable<Row extends object> {
  /** The SQL that adds the lease columns, their checks and the claim index. May be run any number of times. */
  ddl(): string;
  /** Leases due rows to the caller, with one statement. */
  claim(client: SqlClient, options?: ClaimOptions): Promise<Claim<Row>>;
  /**
   * Starts a loop that claims rows, runs the handler on them and settles them, until it is stopped. The process stays alive
   * meanwhile.
   *
   * *Gotcha:* one loop serves all its handlers with one claim at a time. Raise `concurrency`, and do not start several on one table.
   *
   * @param client a pool: the loop uses a few connections at once.
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
   *
   * @example
   * await using worker = deliveries.work(pool, {
   *   concurrency: 20, lease: '2m',
   *   handler: async (row, job) => {
   *     const sent = await transport.send(row, { signal: job.signal });
   *     if (sent.status === 429) return retryIn(ladder(job.attempt ?? 1, ['1m', '15m', '1h'], sent));
   *   },
   * });
   */
  work(client: SqlClient, options: WorkOptions<Row>): Worker;
}
