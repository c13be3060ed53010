import type { SqlClient } from '../client.ts';
import { ManagedWorker } from './managed-worker.ts';
import { resolveWorkOptions } from './resolve-work-options.ts';
import type { WorkOptions } from './work-options.ts';
import type { WorkSource } from './work-source.ts';
import type { Worker } from './worker.ts';

/**
 * Starts a loop that claims rows, runs the handler on them, and settles them, until it is stopped. The process stays alive meanwhile.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
 */
export function startWorker<Row extends object>(source: WorkSource<Row>, client: SqlClient, options: WorkOptions<Row>): Worker {
  const resolved = resolveWorkOptions(options);
  // Here, and not at the first claim: the loop would try for ever.
  source.check(resolved.claim);
  return new ManagedWorker({ source, client, options: resolved });
}
