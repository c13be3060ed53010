/** What others may do in the same database, by accident or with intent, and what it must not do to the leases. */
import { createLeasehold } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { startPostgres } from '../../../testing/src/index.ts';
import { test } from '../../../../test/support/database.ts';
import { callWithin, instance, openStore } from '../support/postgres-lease.ts';

const REQUEST = { instance: instance('a'), instanceTtlMs: 60_000, renew: [], acquire: [], observe: [] };
const wanted = { role: 'r', leaseMs: 60_000, tokenFloor: 0n };

describe('functions and operators of others on the search path', () => {
  test('are never called, however well they match', async ({ database }) => {
    const { query, schema } = database;
    const trap = `${schema}_trap`;
    const lure = (call: string, result: string, answer: string): string =>
      `create function ${trap}.${call} returns ${result} language plpgsql as $f$ begin insert into ${trap}.called values ('${call}'); return ${answer}; end $f$;`;
    await query(`create schema ${trap}; create table ${trap}.called (name text);
      ${lure('json_build_object(text, text, text, json)', 'json', `'{}'`)}
      ${lure('json_build_object(text, text)', 'json', `'{}'`)}
      ${lure('unnest(text[])', 'setof text', '')}
      ${lure('times(integer, interval)', 'interval', `interval '1 year'`)}
      create operator ${trap}.* (leftarg = integer, rightarg = interval, function = ${trap}.times);`);
    onTestFinished(async () => void (await query(`drop schema ${trap} cascade`)));
    const url = new URL(database.connectionString);
    url.searchParams.set('options', `-c search_path=${trap}`);
    const store = await openStore({ ...database, connectionString: url.href }, 'a');
    await store.heartbeat({ ...REQUEST, acquire: [wanted] }, callWithin(5_000));
    const { roles } = await store.heartbeat({ ...REQUEST, renew: [{ role: 'r', fencingToken: 1n }] }, callWithin(5_000));
    expect(roles[0]?.remainingMs).toBeLessThanOrEqual(60_000);
    await store.release({ ...REQUEST, roles: [{ role: 'r', fencingToken: 1n }], leaving: true }, callWithin(5_000));
    expect(await query(`select * from ${trap}.called`)).toEqual([]);
  });
});

describe('a listener that hangs in a transaction, until the queue of notifications is full', () => {
  test('costs wake-ups, and no role', async ({ database, skip }) => {
    const [version] = await database.query(`select current_setting('server_version_num')::int as number`);
    // Before PostgreSQL 17 the queue holds 8 GB, which no test should fill.
    if (Number(version?.['number']) < 170_000) skip();
    await using server = await startPostgres({ postgresFlags: ['-c', 'max_notify_queue_pages=64'] });
    const { connectionString } = server;
    const pool = new pg.Pool({ connectionString });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    const leasehold = createLeasehold({ store: postgresStore({ connectionString }), leaseDuration: '1s' });
    onTestFinished(() => leasehold.stop());
    const held = leasehold.role('held');
    await leasehold.start();
    const listener = await pool.connect();
    // The server ends before the pool: what it says then is nobody's error.
    listener.on('error', () => {});
    await listener.query('listen elsewhere; begin');
    const fill = `select pg_notify('elsewhere', repeat('x', 7000) || n) from generate_series(1, 1000) n`;
    await expect(pool.query(fill)).rejects.toThrow('too many notifications');
    for (let n = 10; n > 0; n -= 1) await pool.query(fill.replace('1000', String(n))).catch(() => {});
    const late = leasehold.role('late');
    await expect.poll(() => late.isHeld, { timeout: 5_000 }).toBe(true);
    expect([held.fencingToken, await leasehold.role('unheld').stepDown(), await late.stepDown()]).toEqual([
      1n,
      'not-held',
      'released',
    ]);
    listener.release(true);
  });
});

describe('an application that has replaced all parsers of pg', () => {
  test('has its schema recognized, its wake-ups and its numbers all the same', async ({ database }) => {
    const replaced = [pg.types.builtins.BOOL, pg.types.builtins.INT4, pg.types.builtins.INT8, pg.types.builtins.FLOAT8];
    for (const type of replaced) {
      const parser = pg.types.getTypeParser(type);
      pg.types.setTypeParser(type, (text) => ({ text }));
      onTestFinished(() => pg.types.setTypeParser(type, parser as never));
    }
    await (await openStore(database, 'first')).close();
    const store = await openStore(database, 'a', { migrate: 'never' });
    expect(store.listens).toBe(true);
    const { roles } = await store.heartbeat({ ...REQUEST, acquire: [wanted] }, callWithin(5_000));
    expect(roles).toEqual([
      expect.objectContaining({ outcome: 'acquired', fencingToken: 1n, remainingMs: expect.closeTo(60_000, -3) }),
    ]);
  });

  test('may ask for binary results', async ({ database }) => {
    const connection = { connectionString: database.connectionString, binary: true };
    const store = await openStore(database, 'a', { connection });
    const { roles } = await store.heartbeat({ ...REQUEST, acquire: [wanted] }, callWithin(5_000));
    expect([store.listens, roles[0]?.outcome, roles[0]?.fencingToken]).toEqual([true, 'acquired', 1n]);
  });
});
