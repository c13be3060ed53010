import { describe, expect } from 'vitest';
import { sql } from '@leasehold/core/work';
import { test } from '../../../../test/support/database.ts';
import { claimedRowOf } from './support/typed-table.ts';

const option = (name: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option: name });
const sqlState = (code: string): unknown => expect.objectContaining({ code });

describe('what is written into a column', () => {
  test('of text is made storable, and else kept to the letter', async ({ database }) => {
    const write = await claimedRowOf(database, 'a text, b text, c varchar(5), d char(4), e text');
    const row = await write({ a: 'nul \u0000, half \uD800', b: String.raw`{"quoted\", NULL, {}`, c: 'äöüß!', d: 'ab', e: '' });
    expect(row).toMatchObject({
      a: 'nul \uFFFD, half \uFFFD',
      b: String.raw`{"quoted\", NULL, {}`,
      c: 'äöüß!',
      d: 'ab  ',
      e: '',
    });
    await expect(write({ c: 'too long' })).rejects.toThrow(sqlState('22001'));
    await expect(write({ d: 'too long' })).rejects.toThrow(sqlState('22001'));
  });

  test('of text from an error is its text, and binary data is refused', async ({ database }) => {
    const write = await claimedRowOf(database, 'a text, b bytea');
    expect(await write({ a: new TypeError('no\u0000') })).toMatchObject({ a: 'TypeError: no\uFFFD' });
    expect(await write({ b: Buffer.from([0, 92, 255]) })).toMatchObject({ b: Buffer.from([0, 92, 255]) });
    expect(await write({ b: new Uint8Array(0) })).toMatchObject({ b: Buffer.alloc(0) });
    await expect(write({ a: Buffer.from('x') })).rejects.toThrow(option('set.a'));
  });

  test('of JSON is the value itself: strings, keys and all made storable', async ({ database }) => {
    const write = await claimedRowOf(database, 'a jsonb, b json, c jsonb, d jsonb, e jsonb, f jsonb');
    const row = await write({
      a: { 'k\u0000': ['\uDC00', { deep: 'x\u0000' }], n: 1.5, big: 2n ** 60n, when: new Date(0), e: new Error('why') },
      b: 'just text',
      c: null,
      d: sql`'null'::jsonb`,
      e: [1, [2], null],
      f: false,
    });
    const a = {
      'k\uFFFD': ['\uFFFD', { deep: 'x\uFFFD' }],
      n: 1.5,
      big: '1152921504606846976',
      when: '1970-01-01T00:00:00.000Z',
      e: { name: 'Error', message: 'why' },
    };
    expect(row).toMatchObject({ a, b: 'just text', c: null, d: null, e: [1, [2], null], f: false });
    const nulls = await database.query(`select c is null as c, d is null as d from ${database.schema}.things`);
    expect(nulls).toEqual([{ c: true, d: false }]);
  });

  test('of JSON without a JSON text is refused by name', async ({ database }) => {
    const write = await claimedRowOf(database, 'a jsonb');
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await expect(write({ a: circle })).rejects.toThrow(option('set.a'));
    await expect(write({ a: { toJSON: () => {} } })).rejects.toThrow(option('set.a'));
  });

  test('of numbers is exact, whatever its size, or refused by PostgreSQL', async ({ database }) => {
    const write = await claimedRowOf(database, 'a float8, b float8, c numeric, d bigint, e int, f numeric(4,1)');
    const row = await write({ a: Number.NaN, b: -Infinity, c: 1e21, d: 2n ** 63n - 1n, e: -0, f: 1.25 });
    expect(row).toMatchObject({
      a: Number.NaN,
      b: -Infinity,
      c: '1000000000000000000000',
      d: '9223372036854775807',
      e: 0,
      f: '1.3',
    });
    await expect(write({ e: 1.5 })).rejects.toThrow(sqlState('22P02'));
    await expect(write({ d: 1e21 })).rejects.toThrow(sqlState('22P02'));
    await expect(write({ d: 2n ** 63n })).rejects.toThrow(sqlState('22003'));
    await expect(write({ e: Number.NaN })).rejects.toThrow(sqlState('22P02'));
  });

  test('of dates is that moment, and without a time zone the local reading of it', async ({ database }) => {
    const write = await claimedRowOf(database, 'a timestamptz, b timestamp, c date, d timestamptz[]');
    const at = new Date(2026, 2, 1, 0, 30, 0, 123);
    const midnight = new Date(2026, 2, 1);
    expect(await write({ a: at, b: at, c: at, d: [at] })).toMatchObject({ a: at, b: at, c: midnight, d: [at] });
    await expect(write({ a: new Date(Number.NaN) })).rejects.toThrow(option('set.a'));
    await expect(write({ a: new Date(8.64e15) })).rejects.toThrow(option('set.a'));
  });

  test('of arrays keeps NULL, quotes, depth and emptiness', async ({ database }) => {
    const write = await claimedRowOf(database, 'a text[], b int[], c jsonb[], d bytea[], e text[]');
    const texts = ['NULL', null, '"', '\\', ',', '{}', ' ', '', 'x\u0000'];
    const row = await write({
      a: texts,
      b: [
        [1, 2],
        [3, 4],
      ],
      c: [{ a: '"\u0000' }, [1], 'text', null],
      d: [Buffer.from([0])],
      e: [],
    });
    expect(row).toMatchObject({
      a: [...texts.slice(0, -1), 'x\uFFFD'],
      b: [
        [1, 2],
        [3, 4],
      ],
      c: [{ a: '"\uFFFD' }, [1], 'text', null],
      d: [Buffer.from([0])],
      e: [],
    });
    await expect(write({ a: 5 })).rejects.toThrow(option('set.a'));
  });

  test('of other types is their text, or what the driver reads them as', async ({ database }) => {
    const { schema, query } = database;
    await query(`create schema ${schema}; create type ${schema}.mood as enum ('fine', 'not so');
      create domain ${schema}.positive as int check (value > 0); create domain ${schema}.doc as jsonb; create domain ${schema}.doc2 as ${schema}.doc`);
    const write = await claimedRowOf(
      database,
      `a ${schema}.mood, b ${schema}.positive, c ${schema}.doc2, d interval, e point, f int4range, g uuid, h inet, i ${schema}.mood[], j bool`,
    );
    const uuid = '6f9619ff-8b86-4d01-b42d-00c04fc964ff';
    const row = await write({
      a: 'not so',
      b: 5,
      c: { in: 'a domain' },
      d: '1 day 2 hours',
      e: '(1,2)',
      f: '[1,5)',
      g: uuid,
      h: '10.0.0.1',
      i: ['fine'],
      j: true,
    });
    expect(row).toMatchObject({
      a: 'not so',
      b: 5,
      c: { in: 'a domain' },
      e: { x: 1, y: 2 },
      f: '[1,5)',
      g: uuid,
      h: '10.0.0.1',
      j: true,
    });
    expect(await write({ d: row['d'] as object })).toMatchObject({ d: { days: 1, hours: 2 } });
    await expect(write({ a: 'bad' })).rejects.toThrow(sqlState('22P02'));
    await expect(write({ b: 0 })).rejects.toThrow(sqlState('23514'));
    await expect(write({ e: { x: 1, y: 2 } })).rejects.toThrow(option('set.e'));
  });

  test('that writes itself is left to PostgreSQL to refuse', async ({ database }) => {
    const write = await claimedRowOf(database, 'a int generated always as (id * 2) stored, b int generated always as identity');
    await expect(write({ a: 1 })).rejects.toThrow(sqlState('428C9'));
    await expect(write({ b: 1 })).rejects.toThrow(sqlState('428C9'));
  });

  test('of any name is that column', async ({ database }) => {
    const names = ['select', 'Upper', 'with "quotes"', 'ünïcode', '__proto__', 'constructor', 'a.b', "it's"];
    const columns = names.map((name) => `"${name.replaceAll('"', '""')}" text`).join(', ');
    const write = await claimedRowOf(database, columns);
    const row = await write(Object.fromEntries(names.map((name) => [name, name])));
    for (const name of names) expect(Object.getOwnPropertyDescriptor(row, name)?.value ?? row[name]).toBe(name);
  });

  test('there is not is named, with those that are there', async ({ database }) => {
    const write = await claimedRowOf(database, 'a text');
    await expect(write({ a: 'x', error: 'y' })).rejects.toThrow(/it has no column error; it has id, created_at, .*, a\./);
    await expect(write(JSON.parse('{"__proto__": "x"}'))).rejects.toThrow(/no column __proto__/);
    await expect(write({ constructor: 'x' } as object as Record<string, string>)).rejects.toThrow(/no column constructor/);
    await expect(write({ a: undefined } as object as Record<string, string>)).rejects.toThrow(option('set.a'));
    await expect(write({ a: Symbol('x') } as object as Record<string, string>)).rejects.toThrow(option('set.a'));
    await expect(write({ lock_id: null })).rejects.toThrow(/written by Leasehold alone/);
  });

  test.for([
    ['an error', new Error('lost in silence')],
    ['a Map', new Map([['a', 'x']])],
    ['a Date', new Date()],
    ['a list', ['a']],
    ['text', 'a'],
    ['a fragment', sql`a = 1`],
  ] as const)('cannot be given as %s', async ([, set], { database }) => {
    const write = await claimedRowOf(database, 'a text');
    await expect(write(set as object as Record<string, string>)).rejects.toThrow(option('set'));
  });
});

describe('a fragment', () => {
  test('is not what JSON from outside looks like', async ({ database }) => {
    const write = await claimedRowOf(database, 'a jsonb, b text');
    const hostile: object = JSON.parse(
      '{"strings": ["(select \'run\')"], "values": [], "text": "x", "sql": "x", "constructor": {"name": "Sql"}}',
    );
    expect(await write({ a: hostile })).toMatchObject({ a: hostile });
    const inherited: object = JSON.parse('{"__proto__": {"text": 1, "sql": 1}, "strings": ["\'run\'"], "values": []}');
    await expect(write({ b: inherited })).rejects.toThrow(option('set.b'));
  });

  test('may come from another installation, and stand within one from here', async ({ database }) => {
    class Sql {
      readonly strings: readonly string[];
      readonly values: readonly unknown[];
      constructor(strings: readonly string[], values: readonly unknown[]) {
        this.strings = strings;
        this.values = values;
      }
      get text(): string {
        return this.strings.join('$1');
      }
      get sql(): string {
        return this.strings.join('?');
      }
    }
    const foreign = new Sql(['upper(', '::text)'], ['x']);
    const write = await claimedRowOf(database, 'a text, b text');
    expect(await write({ a: foreign, b: sql`${foreign} || ${'y'}` })).toMatchObject({ a: 'X', b: 'Xy' });
  });

  test('may have a thousand values', async ({ database }) => {
    const write = await claimedRowOf(database, 'a int[]');
    const numbers = Array.from({ length: 1_000 }, (_, n) => n);
    const strings = ['array[', ...Array.from({ length: 999 }, () => '::int, '), '::int]'];
    expect(await write({ a: sql(strings, ...numbers) })).toMatchObject({ a: numbers });
  });

  test('with more values than the protocol takes is refused before it breaks the connection', async ({ database }) => {
    const write = await claimedRowOf(database, 'a bool');
    const strings = ['1 in (', ...Array.from({ length: 69_999 }, () => '::int, '), '::int)'];
    const many = sql(strings, ...Array.from({ length: 70_000 }, (_, n) => n));
    await expect(write({ a: many })).rejects.toThrow(/parameters, and PostgreSQL takes 65535/);
  });
});
