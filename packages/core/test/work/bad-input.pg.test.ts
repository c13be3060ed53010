import { describe, expect } from 'vitest';
import { sql, workTable } from '@leasehold/core/work';
import pg from 'pg';
import { test } from '../../../../test/support/database.ts';
import type { WorkTableOptions } from '../../src/work/work-table-options.ts';
import { createDeliveries, deliveriesOf, rowsOf } from './support/deliveries.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

describe('a table that is not what was said', () => {
  const wrong: readonly [says: string, options: Partial<WorkTableOptions>][] = [
    ['there is no table "nowhere" on this connection', { table: 'nowhere' }],
    ['it has no column due_at; it has id, created_at', { orderBy: 'due_at' }],
    ['it has no column key', { id: 'key' }],
    ['it has no column leased_by', { columns: { lockId: 'leased_by' } }],
    ['its column completed_at may be NULL; make it "not null"', { orderBy: 'completed_at' }],
    ['its column error is of type text; it has to be uuid', { columns: { lockId: 'error' } }],
    ['its column payload is of type jsonb; it has to be timestamp with time zone', { orderBy: 'payload' }],
    ['its column error is of type text; it has to be smallint or integer or bigint', { attempts: { column: 'error', max: 3 } }],
    ['nothing makes its id (attempts) unique', { id: 'attempts' }],
    ['it has no column finished_at', { done: { finished_at: sql`now()` } }],
    ['it has no column why', { dead: { set: { failed_at: sql`now()` }, reason: 'why' } }],
    ['it has no column tenant', { groupBy: 'tenant' }],
  ];
  test.for(wrong)('says at the first call: %s', async ([says, options], { database }) => {
    await createDeliveries(database, 1);
    const claim = deliveriesOf(database, options).claim(database.pool);
    await expect(claim).rejects.toThrow(code('LEASEHOLD_WORK_TABLE'));
    await expect(claim).rejects.toThrow(says);
  });

  test('says so of an id that is an array, and not of a domain over one', async ({ database }) => {
    const { query, pool, schema } = database;
    await createDeliveries(database, 1);
    await query(`alter table ${schema}.deliveries alter id drop identity`);
    await query(`alter table ${schema}.deliveries alter id type bigint[] using array[id]`);
    await expect(deliveriesOf(database).claim(pool)).rejects.toThrow(code('LEASEHOLD_WORK_TABLE'));
    await expect(deliveriesOf(database).claim(pool)).rejects.toThrow('its id id is of type bigint[]');
    await query(`create domain ${schema}.path as bigint[]; alter table ${schema}.deliveries alter id type ${schema}.path`);
    const claim = await deliveriesOf(database).claim(pool);
    expect(await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })))).toEqual(['done']);
  });

  test('is looked at again once it has been mended', async ({ database }) => {
    const deliveries = deliveriesOf(database);
    await expect(deliveries.claim(database.pool)).rejects.toThrow(code('LEASEHOLD_WORK_TABLE'));
    await createDeliveries(database, 1);
    const claim = await deliveries.claim(database.pool);
    expect(claim.rows).toHaveLength(1);
    claim.close();
  });
});

describe('options of a claim', () => {
  const wrong: readonly [name: string, options: object][] = [
    ['limit', { limit: 0 }],
    ['limit', { limit: 100_000 }],
    ['limit', { limit: 1.5 }],
    ['limit', { limit: '10' }],
    ['lease', { lease: '999ms' }],
    ['lease', { lease: '25h' }],
    ['lease', { lease: '1 minute' }],
    ['where', { where: 'true' }],
    ['where', { where: { strings: ['true'], values: [] } }],
    ['autoRenew', { autoRenew: 1 }],
    ['returning', { returning: [] }],
    ['returning', { returning: ['id', 'id'] }],
    ['safetyMargin', { safetyMargin: '31s' }],
    ['statementTimeout', { statementTimeout: '31s' }],
    ['group', { group: { tenant: 1 } }],
    ['onClaim.error', { onClaim: { error: undefined } }],
    ['set', { onClaim: { lock_id: 'x' } }],
    ['limits', { limits: 5 }],
  ];
  test.for(wrong)('%s: %o is refused by name', async ([option, options], { database }) => {
    await createDeliveries(database, 1);
    const claim = deliveriesOf(database).claim(database.pool, options);
    await expect(claim).rejects.toMatchObject({ name: 'LeaseholdError', option });
    expect((await rowsOf(database))[0]?.attempts).toBe(0);
  });

  test('returning a column that is not there, or writing one, says which', async ({ database }) => {
    await createDeliveries(database, 1);
    const deliveries = deliveriesOf(database);
    await expect(deliveries.claim(database.pool, { onClaim: { nope: 1 } })).rejects.toThrow(/no column nope/);
    await expect(deliveries.claim(database.pool, { returning: ['nope'] })).rejects.toThrow(/nope/);
  });

  test.for([[null], [undefined], ['postgres://x'], [{}]])('with %o for a client are refused', async ([client], { database }) => {
    await createDeliveries(database, 1);
    await expect(deliveriesOf(database).claim(client as never)).rejects.toThrow(code('LEASEHOLD_INVALID_OPTION'));
  });
});

describe('what is to be settled', () => {
  const wrong: readonly [code: string, outcome: unknown][] = [
    ['LEASEHOLD_INVALID_OPTION', null],
    ['LEASEHOLD_INVALID_OPTION', 'done'],
    ['LEASEHOLD_INVALID_OPTION', { row: '1' }],
    ['LEASEHOLD_INVALID_OPTION', { row: '1', outcome: 'constructor' }],
    ['LEASEHOLD_INVALID_OPTION', { row: '1', outcome: 'done', sets: {} }],
    ['LEASEHOLD_INVALID_OPTION', { row: '1', outcome: 'done', after: '1m' }],
    ['LEASEHOLD_INVALID_OPTION', { row: '1', outcome: 'retry', after: new Date(Number.NaN) }],
    ['LEASEHOLD_INVALID_OPTION', { row: '1', outcome: 'retry', after: new Date(8.64e15) }],
    ['LEASEHOLD_INVALID_DURATION', { row: '1', outcome: 'retry' }],
    ['LEASEHOLD_INVALID_DURATION', { row: '1', outcome: 'retry', after: -1 }],
    ['LEASEHOLD_INVALID_DURATION', { row: '1', outcome: 'retry', after: '400d' }],
    ['LEASEHOLD_UNKNOWN_ROW', { row: undefined, outcome: 'done' }],
    ['LEASEHOLD_UNKNOWN_ROW', { row: null, outcome: 'done' }],
    ['LEASEHOLD_UNKNOWN_ROW', { row: { id: '2' }, outcome: 'done' }],
    ['LEASEHOLD_UNKNOWN_ROW', { row: Symbol('1'), outcome: 'done' }],
  ];
  test.for(wrong)('%s: %o', async ([expected, outcome], { database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    await expect(claim.settle([outcome as never])).rejects.toThrow(code(expected));
    await expect(claim.settle(outcome as never)).rejects.toThrow(code('LEASEHOLD_INVALID_OPTION'));
    expect(await claim.finalize('1')).toBe('done');
  });

  test('with options that are none is refused', async ({ database }) => {
    await createDeliveries(database, 1);
    const claim = await deliveriesOf(database).claim(database.pool);
    const refused = code('LEASEHOLD_INVALID_OPTION');
    await expect(claim.finalize('1', {}, { onLost: 'rollback' } as never)).rejects.toThrow(refused);
    await expect(claim.finalize('1', {}, { client: null } as never)).rejects.toThrow(refused);
    await expect(claim.finalize('1', {}, { tx: database.pool } as never)).rejects.toThrow(refused);
    await expect(claim.retry('1', {}, undefined as never)).rejects.toThrow(refused);
    await expect(claim.retry('1', new Error('in the place of a set') as never, { after: 0 })).rejects.toThrow(refused);
    claim.close();
  });
});

describe('ids', () => {
  const LARGE = ['2147483648', '9007199254740992', '9007199254740993', '9223372036854775807'];

  test('beyond 2^53 are exact as text and bigint, and none as a number that lost its digits', async ({ database }) => {
    const { schema, connectionString } = database;
    await createDeliveries(database);
    await database.query(
      `insert into ${schema}.deliveries (id, created_at) overriding system value select id, now() from unnest($1::bigint[]) id`,
      [LARGE],
    );
    // An application that reads int8 as numbers.
    const pool = new pg.Pool({ connectionString });
    pool.on('connect', (client) => client.setTypeParser(pg.types.builtins.INT8, Number));
    const claim = await deliveriesOf(database).claim(pool);
    expect(claim.rows.map(({ id }) => id)).toEqual(LARGE.map(Number));
    const inexact = Number(LARGE[1]);
    await expect(claim.finalize(inexact)).rejects.toThrow(code('LEASEHOLD_UNKNOWN_ROW'));
    await expect(claim.finalize({ id: inexact })).rejects.toThrow(code('LEASEHOLD_UNKNOWN_ROW'));
    expect(await claim.finalize(2_147_483_648)).toBe('done');
    expect(await claim.finalize(claim.rows[2] ?? {}, { error: 'third' })).toBe('done');
    expect(await claim.finalize(9_007_199_254_740_992n, { error: 'second' })).toBe('done');
    expect(await claim.finalize('9223372036854775807', { error: 'fourth' })).toBe('done');
    expect((await rowsOf(database)).map(({ error }) => error)).toEqual([null, 'second', 'third', 'fourth']);
    await pool.end();
  });

  test.for([
    ['uuid', `'6f9619ff-8b86-4d01-b42d-00c04fc964ff'`],
    ['text', `E'quote " comma , back \\\\ {NULL}'`],
    ['text', `''`],
    ['timestamptz', `'2026-03-01 12:00:00.123456+00'`],
    ['numeric', '1.50'],
    ['bytea', String.raw`'\x00ff'`],
  ])('of type %s are found again: %s', async ([type, value], { database }) => {
    const { query, schema, pool } = database;
    await query(`create schema ${schema}`);
    await query(`create table ${schema}.jobs (region int, "Key" ${type}, at timestamptz default '2026-03-01 12:00:00.123457+00',
      created_at timestamptz not null default now(), done bool not null default false, lock_id uuid, locked_until timestamptz,
      primary key (region, "Key", at))`);
    await query(`insert into ${schema}.jobs (region, "Key") values (1, ${value}), (2, ${value})`);
    const jobs = workTable({
      table: [schema, 'jobs'],
      id: ['region', 'Key', 'at'],
      orderBy: 'created_at',
      live: sql`not done`,
      done: { done: true },
    });
    const claim = await jobs.claim(pool);
    const second = claim.rows.find((row) => row['region'] === 2) ?? {};
    expect(await claim.renew()).toEqual([]);
    expect(await claim.finalize(second)).toBe('done');
    expect(await query(`select region from ${schema}.jobs where done`)).toEqual([{ region: 2 }]);
    claim.close();
  });
});

describe('names', () => {
  test.for([
    'due',
    'found',
    'given',
    'free',
    'one',
    'w',
    'g',
    'v',
    'select',
    'UPPER case',
    'quo"te',
    'dot.ted',
    "it's",
    'größe',
    'leasehold_x',
  ])('of a table: %s, with its columns', async (name, { database }) => {
    const { query, schema, pool } = database;
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    await query(`create schema ${schema}`);
    await query(`create table ${schema}.${quote(name)} (${quote(name)} int primary key, "order" timestamptz not null default now(),
        "end" bool not null default false, "Lock" uuid, "until ""when""" timestamptz, "group" int not null default 0, why text)`);
    await query(`insert into ${schema}.${quote(name)} select * from generate_series(1, 3)`);
    const things = workTable({
      table: name.includes('.') ? [schema, name] : name,
      id: name,
      orderBy: 'order',
      live: sql`not "end"`,
      columns: { lockId: 'Lock', lockedUntil: 'until "when"' },
      attempts: { column: 'group', max: 3 },
      done: { end: true },
      dead: { set: { end: true }, reason: 'why' },
    });
    const client = await pool.connect();
    await client.query(`set search_path = ${schema}`);
    const claim = await things.claim(client, { where: sql([`exists (select from ${quote(name)} where ${quote(name)} > 0)`]) });
    expect(await claim.renew()).toEqual([]);
    const outcomes = [
      { row: 1, outcome: 'done' },
      { row: 2, outcome: 'release' },
      { row: 3, outcome: 'bury' },
    ] as const;
    expect(await claim.settle(outcomes)).toEqual(['done', 'done', 'done']);
    await client.query('reset search_path');
    client.release();
  });
});
