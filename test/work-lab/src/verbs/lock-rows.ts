import { nowUs } from '../../../lab/src/monotonic.ts';
import type { RowVerb } from '../../../lab/src/verbs/verb.ts';
import type { StruckFault } from '../../../lab/src/checker/history.ts';

/** Rows that are being worked on, and as many that are due next; in the order of ids, as everybody locks them. */
const LOCK = `
select id from public.delivery
where id in (
  (select id from public.delivery where finished_at is null and buried_at is null and locked_until is not null limit 60)
  union all
  (select id from public.delivery where finished_at is null and buried_at is null
   order by coalesce(locked_until, created_at), id limit 40)
)
order by id for update`;

/** A session has rows locked for longer than a statement may take: a forgotten `psql`, a report, a batch of the application's. */
export function lockRows(noted: StruckFault[]): RowVerb {
  return {
    kind: 'lockRows',
    strikes: 'row',
    stallsRole: false,
    lasts: [1_000, 5_000],
    strike: ({ bench, lastsMs }) =>
      bench.admin.transaction(async (client) => {
        const from = nowUs();
        const { rows } = await client.query<{ id: string }>(LOCK);
        await bench.wait(lastsMs);
        noted.push({ kind: 'lockRows', reach: { of: 'roles', roles: rows.map(({ id }) => id) }, from, to: nowUs() });
      }),
  };
}
