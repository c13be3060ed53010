import { describe, expect, onTestFinished } from 'vitest';
import pg from 'pg';
import { startPostgres } from '../../../testing/src/index.ts';
import { postgresStore, withFence, migrationSql } from '@leasehold/core/postgres';
import { createLeasehold } from '@leasehold/core';
import { test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore } from '../support/postgres-lease.ts';
import { askHeartbeat } from '../../src/postgres/heartbeat-rows.ts';
import { heartbeatSql } from '../../src/postgres/sql/heartbeat.ts';

const base = { instance: instance('a'), instanceTtlMs: 60_000, renew: [], acquire: [], observe: [] };
const want = (role: string) => ({ role, leaseMs: 60_000, tokenFloor: 0n });

test('P1 hijack', async ({ database }) => {
  const s = `${database.schema}_evil`;
  await database.query(`create schema ${s}; create table ${s}.stolen (who text);
   create function ${s}.json_build_object(text, text, text, json) returns json language plpgsql volatile as $f$ begin insert into ${s}.stolen values ('json ' || current_user); return '{}'::json; end $f$;
   create function ${s}.unnest(text[]) returns setof text language plpgsql volatile as $f$ begin insert into ${s}.stolen values ('unnest ' || current_user); return query select pg_catalog.unnest($1); end $f$;
   create function ${s}.octet_length(varchar) returns int language plpgsql as $f$ begin return 0; end $f$;
   create function ${s}.mult(int, interval) returns interval language plpgsql volatile as $f$ begin insert into ${s}.stolen values ('mult ' || current_user); return interval '1 day'; end $f$;
   create operator ${s}.* (leftarg = int, rightarg = interval, function = ${s}.mult);`);
  onTestFinished(async () => void (await database.query(`drop schema ${s} cascade`)));
  const url = new URL(database.connectionString);
  url.searchParams.set('options', `-c search_path=${s}`);
  const store = await openStore({ ...database, connectionString: url.href }, 'a');
  await store.heartbeat({ ...base, acquire: [want('r')] }, callWithin(5_000));
  await store.heartbeat({ ...base, renew: [{ role: 'r', fencingToken: 1n }], observe: ['r2'] }, callWithin(5_000));
  await store.release({ instance: instance('a'), roles: [{ role: 'r', fencingToken: 1n }], leaving: true }, callWithin(5_000));
  console.log('P1', await database.query(`select distinct who from ${s}.stolen`));
});

test('P3 parsers', async ({ database }) => {
  const old = pg.types.getTypeParser(701);
  pg.types.setTypeParser(701, (v: string) => v as never);
  onTestFinished(() => pg.types.setTypeParser(701, old as never));
  const store = await openStore(database, 'a');
  const r = await store.heartbeat({ ...base, acquire: [want('r')] }, callWithin(5_000));
  console.log('P3', r.roles);
});

test('P4 message', async ({ database }) => {
  const l = createLeasehold({ startup: 'fail', store: postgresStore({ connectionString: 'postgres://u@localhost:1/d' }) });
  console.log('P4', String(await l.start().catch((e: unknown) => e)));
  const l2 = createLeasehold({ startup: 'fail', store: postgresStore({ connection: { host: '/tmp/nowhere' } }) });
  console.log('P4', String(await l2.start().catch((e: unknown) => e)));
  const l3 = createLeasehold({
    startup: 'fail',
    store: postgresStore({ connectionString: database.connectionString.replace(/:[^:@]*@/, ':wrong@') }),
  });
  console.log('P4', String(await l3.start().catch((e: unknown) => e)));
});

test('P6 jit', async ({ database }) => {
  const store = await openStore(database, 'a');
  for (const n of [1_000, 5_000]) {
    const roles = Array.from({ length: n }, (_, i) => `x${n}-${i}`);
    await store.heartbeat({ ...base, acquire: roles.map(want) }, callWithin(30_000));
    await database.query(`analyze ${database.schema}.role_lease`);
    const values = askHeartbeat(
      { ...base, renew: roles.map((role) => ({ role, fencingToken: 1n })) },
      { channel: 'c', keepTermsMs: 1 },
    );
    const [row] = await database.query(`explain (format json) ${heartbeatSql(database.schema)}`, values);
    console.log(
      'P6',
      n,
      (row as never as { 'QUERY PLAN': { Plan: { 'Total Cost': number } }[] })['QUERY PLAN'][0]?.Plan['Total Cost'],
    );
    const v2 = askHeartbeat({ ...base, acquire: roles.map(want) }, { channel: 'c', keepTermsMs: 1 });
    const [row2] = await database.query(`explain (format json) ${heartbeatSql(database.schema)}`, v2);
    console.log(
      'P6 acquire',
      n,
      (row2 as never as { 'QUERY PLAN': { Plan: { 'Total Cost': number } }[] })['QUERY PLAN'][0]?.Plan['Total Cost'],
    );
  }
  console.log(
    await database.query(
      `select current_setting('jit') as jit, pg_jit_available() as avail, current_setting('jit_above_cost') c, version()`,
    ),
  );
});

test('P9 fence rr', async ({ database }) => {
  const l = instanceOn(database, { leaseDuration: '1s' });
  const lease = l.role('r');
  await l.start();
  const client = await database.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query('begin isolation level repeatable read');
  await client.query('select 1');
  const before = (await database.query(`select expires_at from ${database.schema}.role_lease`))[0]?.['expires_at'];
  await expect
    .poll(
      async () =>
        String((await database.query(`select expires_at from ${database.schema}.role_lease`))[0]?.['expires_at'] as Date) !==
        String(before),
      { timeout: 5000 },
    )
    .toBe(true);
  await lease.whileHeld(async (term) => {
    console.log(
      'P9',
      await term.fence(client).then(
        () => 'ok',
        (e: unknown) => String(e),
      ),
    );
  });
});

test('P10 commits itself', async ({ database }) => {
  const l = instanceOn(database, { leaseDuration: '10s' });
  const lease = l.role('r');
  await l.start();
  const out = await lease.whileHeld((term) =>
    withFence(database.pool, term, async (client) => {
      await client.query('commit');
      return 1;
    }).catch((e: unknown) => String(e)),
  );
  console.log('P10', out);
});

test('P12 schemas', async ({ database }) => {
  for (const schema of [
    'a"b',
    "it's",
    '{schema}',
    'ÄÖ',
    'back\\slash',
    '$1',
    '${x}',
    "x'); drop schema public; --",
    'a.b',
    '🦉'.repeat(15),
    'é'.repeat(31),
    'pg_foo',
  ]) {
    const store = postgresStore({ connectionString: database.connectionString, schema });
    const l = createLeasehold({ store, startup: 'fail' });
    const r = l.role('r');
    const out = await l.start().then(
      () => [r.isHeld, store.listens],
      (e: unknown) => String(e),
    );
    console.log('P12', schema, out);
    await l[Symbol.asyncDispose]();
    await database.query(`drop schema if exists "${schema.replaceAll('"', '""')}" cascade`);
    await database
      .query(`begin; ${migrationSql(schema).replace(/^begin;|commit;\n$/g, '')}; rollback`)
      .catch((e: unknown) => console.log(String(e)));
  }
});

test('P2 queue full', async () => {
  await using server = await startPostgres({ postgresFlags: ['-c', 'max_notify_queue_pages=64'] });
  const { connectionString } = server;
  const l = createLeasehold({ store: postgresStore({ connectionString }), leaseDuration: '2s' });
  const held = l.role('r');
  await l.start();
  const listener = new pg.Client({ connectionString });
  await listener.connect();
  await listener.query('listen x');
  await listener.query('begin');
  await listener.query('select txid_current()');
  const w = new pg.Client({ connectionString });
  await w.connect();
  let full = '';
  for (let i = 0; i < 2000 && !full; i += 1)
    await w
      .query(`select pg_notify('x', repeat('y', 7000) || ${i} || '-' || g) from generate_series(1, 20) g`)
      .catch((e: Error) => {
        full = e.message;
      });
  console.log('P2 full:', full, (await w.query('select pg_notification_queue_usage()')).rows);
  const late = l.role('late');
  await new Promise((r) => setTimeout(r, 4000));
  console.log('P2', held.isHeld, held.fencingToken, late.isHeld);
  await listener.end();
  await w.end();
  await l.stop();
});
