import type { RowVerb } from './verb.ts';

/** A session has the lease row of one role locked: a forgotten `psql`, a dump, a tool. Other roles must not notice. */
export const lockRow: RowVerb = {
  kind: 'lockRow',
  strikes: 'row',
  stallsRole: true,
  lasts: [500, 4_000],
  strike: ({ bench, role, lastsMs }) =>
    bench.admin.transaction(async (client) => {
      await client.query('select from leasehold.role_lease where role = $1 for update', [role]);
      await bench.wait(lastsMs);
    }),
};

/** Somebody has the rows of the living instances locked. No role must notice. */
export const lockInstance: RowVerb = {
  kind: 'lockInstance',
  strikes: 'row',
  stallsRole: false,
  lasts: [500, 4_000],
  strike: ({ bench, lastsMs }) =>
    bench.admin.transaction(async (client) => {
      await client.query('select from leasehold.instance for update');
      await bench.wait(lastsMs);
    }),
};
