import { LeasedWorkTable } from './leased-work-table.ts';
import { resolveWorkTable } from './resolve-work-table.ts';
import type { WorkTable } from './work-table.ts';
import type { WorkTableOptions } from './work-table-options.ts';

/**
 * Describes an application's own table of work. Nothing is asked of the database before the first call that takes a client.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 * @example
 * const deliveries = workTable<Delivery>({
 *   table: 'deliveries', orderBy: 'created_at', live: sql`completed_at is null`,
 *   done: { completed_at: sql`clock_timestamp()` },
 * });
 */
export function workTable<Row extends object = Record<string, unknown>>(options: WorkTableOptions): WorkTable<Row> {
  return new LeasedWorkTable<Row>(resolveWorkTable(options));
}
