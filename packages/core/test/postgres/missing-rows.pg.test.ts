import { describe, expect, onTestFinished } from 'vitest';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { instanceOn } from '../support/postgres-lease.ts';

/** Inserts the row of `role` in a transaction that stays open; the answer ends it. */
async function insertWithoutCommit({ pool, schema }: TestDatabase, role: string): Promise<() => Promise<unknown>> {
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  await client.query('begin');
  await client.query(`insert into ${schema}.role_lease (role) values ($1)`, [role]);
  return () => client.query('rollback');
}

async function secondsHeld({ query, schema }: TestDatabase): Promise<number> {
  const sql = `select extract(epoch from clock_timestamp() - acquired_at)::float8 as seconds from ${schema}.role_lease where role = 'held'`;
  return (await query<{ seconds: number }>(sql))[0]?.seconds ?? 0;
}

describe('a row that somebody else is just inserting, and does not commit', () => {
  test('starves neither the roles held nor other new ones', async ({ database }) => {
    const leasehold = instanceOn(database, { leaseDuration: '3s' });
    const held = leasehold.role('held');
    await leasehold.start();
    const finish = await insertWithoutCommit(database, 'blocked');
    const [blocked, free] = [leasehold.role('blocked'), leasehold.role('free')];
    await expect.poll(() => free.isHeld, { timeout: 3_000 }).toBe(true);
    await expect.poll(() => secondsHeld(database), { timeout: 8_000 }).toBeGreaterThan(5);
    expect([held.fencingToken, free.fencingToken, blocked.isHeld]).toEqual([1n, 1n, false]);
    await finish();
    await expect.poll(() => blocked.isHeld, { timeout: 3_000 }).toBe(true);
  });
});

describe('a row that cannot be created', () => {
  test('costs no role that is held, and one line in the log', async ({ database }) => {
    const lines: string[] = [];
    const log = (_: object, message: string): void => void lines.push(message);
    const leasehold = instanceOn(database, { leaseDuration: '3s', logger: { debug: log, info: log, warn: log, error: log } });
    const held = leasehold.role('held');
    await leasehold.start();
    await database.query(`alter table ${database.schema}.role_lease add check (role <> 'refused')`);
    const refused = leasehold.role('refused');
    await expect.poll(() => secondsHeld(database), { timeout: 8_000 }).toBeGreaterThan(4);
    expect([held.fencingToken, refused.isHeld]).toEqual([1n, false]);
    expect(lines.filter((line) => line === 'new roles could not be taken')).toHaveLength(1);
  });

  test('is an error where nothing else was asked', async ({ database }) => {
    const setUp = instanceOn(database);
    await setUp.start();
    await database.query(`alter table ${database.schema}.role_lease add check (role <> 'refused')`);
    const leasehold = instanceOn(database, { startup: 'fail' });
    leasehold.role('refused');
    await expect(leasehold.start()).rejects.toThrow('violates check constraint');
  });
});
