import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './findings.ts';

const MOST_ROWS_COUNTED = 1_000;

/**
 * At the far end of the claim index: no claim leases for longer than a day, so somebody has written these by hand, or the
 * database's clock was wrong. A worker that died with such a row left it for good.
 */
export async function examineRows({ table, facts, ask }: Examination): Promise<Finding[]> {
  if (facts.claimIndex?.isValid !== true) return [];
  const [lockId, until] = [quoteIdentifier(table.lockId), quoteIdentifier(table.lockedUntil)];
  const text = `select (count(*) filter (where is_leased))::int as leased, (count(*) filter (where not is_leased))::int as waiting from (
    select ${lockId} is not null and ${until} is not null as is_leased from ${table.table.quoted}
    where (${table.live}) and ${table.due} > statement_timestamp() + interval '25 hours'
      and ((${lockId} is not null and ${until} is not null) or ${table.due} > statement_timestamp() + interval '10 years')
    order by ${table.due} desc limit $1::bigint
  ) far`;
  const [{ leased, waiting } = { leased: 0, waiting: 0 }] = await ask<{ leased: number; waiting: number }>(text, [
    MOST_ROWS_COUNTED,
  ]);
  if (leased + waiting === 0) return [];
  const message = `${table.table.quoted} has ${leased} rows that are leased for more than a day, and ${waiting} that are due in more than ten years`;
  const fix = `Look at them, and run "update ${table.table.quoted} set ${lockId} = null, ${until} = null where …" for those that should be claimed.`;
  return [finding('rows-out-of-reach', message, fix)];
}
