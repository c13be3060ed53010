import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Claim, ClaimOptions } from '../claim.ts';
import type { SqlClient } from '../client.ts';

/** What the loop asks of a work table. */
export interface WorkSource<Row extends object> {
  /** Of the table, for logs. */
  readonly name: string;
  readonly attempts: { readonly column: string; readonly max: number } | null;
  readonly clock: Clock;
  readonly logger: Logger;
  claim(client: SqlClient, options: ClaimOptions): Promise<Claim<Row>>;
  /** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION when no claim could be made with these. */
  check(options: ClaimOptions): void;
  /** Milliseconds until the first live row that is not due yet will be; null when there is none, or it is not cheap to tell. */
  nextDueMs(client: SqlClient): Promise<number | null>;
}
