import type { RowVerb } from '../../../lab/src/verbs/verb.ts';

const REMOVE = `
with gone as (
  delete from public.delivery
  where id in (
    select id from public.delivery
    where finished_at is null and buried_at is null and lock_id is not null and locked_until is not null
    order by id limit 5 for update skip locked
  )
  returning id
)
insert into lab.removed (row_id) select id from gone`;

/** Rows are deleted while somebody works on them. */
export const removeRows: RowVerb = {
  kind: 'removeRows',
  strikes: 'row',
  stallsRole: false,
  lasts: [1, 1],
  strike: async ({ bench }) => void (await bench.admin.ask(REMOVE)),
};
