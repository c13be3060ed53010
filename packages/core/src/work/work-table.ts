import type { Claim, ClaimOptions } from './claim.ts';
import type { SqlClient } from './client.ts';

/** An application's own table whose rows workers on any instance claim, work on and settle. */
export interface WorkTable<Row extends object> {
  /** The SQL that adds the lease columns, their checks and the claim index. May be run any number of times. */
  ddl(): string;
  /** Leases due rows to the caller, with one statement. */
  claim(client: SqlClient, options?: ClaimOptions): Promise<Claim<Row>>;
}
