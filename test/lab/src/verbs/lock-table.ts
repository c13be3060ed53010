import type { DatabaseVerb } from './verb.ts';

/** A migration that locks the whole table: nothing can be skipped, everybody waits. */
export function lockTableOf(table: string): DatabaseVerb {
  return {
    kind: 'lockTable',
    strikes: 'database',
    lasts: [200, 1_500],
    strike: ({ bench, lastsMs }) =>
      bench.admin.transaction(async (client) => {
        await client.query(`lock table ${table} in access exclusive mode`);
        await bench.wait(lastsMs);
      }),
  };
}

export const lockTable: DatabaseVerb = lockTableOf('leasehold.role_lease');
