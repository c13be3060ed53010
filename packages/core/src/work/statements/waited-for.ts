import { type Sql, sql } from '../sql.ts';
import type { ClaimRequest } from './claim-request.ts';

/** `now()` is when the transaction began, of this statement alone: before it came to wait. Asked once, and not for each row. */
export function isWaitedFor({ givenUpAfterMs }: Pick<ClaimRequest, 'givenUpAfterMs'>): Sql {
  if (givenUpAfterMs === null) return sql`true`;
  return sql`(select clock_timestamp() < now() + ${givenUpAfterMs}::float8 * interval '1 millisecond')`;
}
