import type { Claim, ClaimOptions } from './claim.ts';
import type { SqlClient } from './client.ts';
import type { Worker } from './worker/worker.ts';
import type { WorkOptions } from './worker/work-options.ts';
import type { DdlOptions } from './ddl/ddl.ts';
import type { DoctorOptions } from './doctor/doctor.ts';
import type { Finding } from './doctor/findings.ts';
import type { CountsOptions, TableCounts } from './upkeep/counts.ts';
import type { PurgeOptions } from './upkeep/purge.ts';
import type { RequeueOptions } from './upkeep/requeue.ts';

/** An application's own table whose rows workers on any instance claim, work on and settle. */
export interface WorkTable<Row extends object> {
  /**
   * The SQL that adds the lease columns, their checks and the indexes: one statement, for a start-up or any migration tool. It
   * may be run any number of times, by any number of instances; once nothing is missing, it takes no lock.
   *
   * *Gotcha:* nobody writes to the table while an index is built. For a large table in use there is {@link WorkTable.ddlStatements}.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
   */
  ddl(options?: DdlOptions): string;
  /**
   * The same in statements that hold up nobody for long: run them one by one, outside a transaction, from one place.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
   */
  ddlStatements(options?: DdlOptions): readonly string[];
  /**
   * Leases due rows to the caller, with one statement. Rows for which the database refuses it are left out for a while, and told to
   * the logger.
   *
   * @throws {LeaseholdError} LEASEHOLD_CLAIM_REFUSED when hardly another row is due, or within a transaction; LEASEHOLD_INVALID_OPTION,
   * LEASEHOLD_INVALID_DURATION, LEASEHOLD_WORK_TABLE, LEASEHOLD_STORE_TIMEOUT; else what the driver rejects with.
   */
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
  /**
   * Deletes finished rows, batch by batch, and answers how many they were.
   *
   * *Gotcha:* rows that somebody has locked are left for the next purge. Within a transaction, all that is deleted stays locked
   * until that ends: give a pool.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE, LEASEHOLD_STORE_TIMEOUT
   */
  purge(client: SqlClient, options: PurgeOptions): Promise<number>;
  /**
   * Makes rows due now that are finished, dead or wait for a retry, with all their attempts, and answers how many.
   *
   * *Gotcha:* a row whose lease runs is left alone, and so is one that somebody has locked.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, also when `set` leaves a row finished; LEASEHOLD_INVALID_DURATION
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE, LEASEHOLD_STORE_TIMEOUT
   */
  requeue(client: SqlClient, options: RequeueOptions<Row>): Promise<number>;
  /**
   * Counts live rows by what is to become of them, by one statement.
   *
   * *Gotcha:* it reads the claim index and the rows behind it, up to `limit`: ask every few seconds, not with every claim.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
   * @throws {LeaseholdError} LEASEHOLD_WORK_TABLE, LEASEHOLD_STORE_TIMEOUT
   */
  counts(client: SqlClient, options?: CountsOptions): Promise<TableCounts>;
  /**
   * Looks for what keeps the table from being quick and right, the worst first; none where all is well. It changes nothing,
   * and reads the catalog, the statistics and the claim index.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION, LEASEHOLD_STORE_TIMEOUT
   */
  doctor(client: SqlClient, options?: DoctorOptions): Promise<readonly Finding[]>;
}
