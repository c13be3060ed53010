import { describe, expect } from 'vitest';
import { type Outcome, type SetValues, sql, workTable, type WorkTable } from '@leasehold/core/work';
import { test, type TestDatabase } from '../../../../test/support/database.ts';

interface Row {
  readonly n: number;
}

interface Ids {
  /** `@` is the schema of the test. */
  readonly before?: string;
  readonly type: string;
  readonly ids: readonly string[];
}

const IDS: Readonly<Record<string, Ids>> = {
  uuid: { type: 'uuid', ids: ['gen_random_uuid()', 'gen_random_uuid()'] },
  text: { type: 'text', ids: ["''", "'__proto__'", `'a,b"c''{}\\'`, "'ünï 😀'", "'x  '", "'x'", "'NULL'", "' '", "'7'", "'07'"] },
  char: { type: 'char(5)', ids: ["'a'", "'ab'", "''", "' b'"] },
  bigint: { type: 'bigint', ids: ['9007199254740993', '9007199254740992', '-9223372036854775808'] },
  numeric: { type: 'numeric', ids: ['1.00', '2.0', '1e30', "'NaN'"] },
  float8: { type: 'float8', ids: ['0.1', '1e300', "'NaN'", "'-0'"] },
  timestamptz: {
    type: 'timestamptz',
    ids: ["'2026-01-02 03:04:05.123456+00'", "'2026-10-25 00:30+00'", "'2026-10-25 01:30+00'"],
  },
  interval: { type: 'interval', ids: ["'1 day'", "'36 hours'"] },
  bytea: { type: 'bytea', ids: ["'\\x00ff'", "'\\x5c5c'", "''"] },
  range: { type: 'tstzrange', ids: ["'[2026-01-01 00:00+00,2026-01-02 00:00+00)'", "'[2026-03-01 00:00+00,)'"] },
  enum: { before: "create type @.mood as enum ('fine', 'a,b')", type: '@.mood', ids: ["'fine'", "'a,b'"] },
  domain: { before: 'create domain @.code as text; create domain @.code2 as @.code', type: '@.code2', ids: ["'A b'", "'C'"] },
  record: { before: 'create type @.pair as (a int, b text)', type: '@.pair', ids: ["row(1, 'a b')", "row(2, 'c')"] },
};

/** All that has a say in how the ids above are written. */
const OTHER_SESSION =
  "set timezone = 'America/New_York'; set intervalstyle = 'iso_8601'; set bytea_output = 'escape'; set extra_float_digits = -2";

async function createThings(database: TestDatabase, { before = '', type, ids }: Ids, id: string[]): Promise<WorkTable<Row>> {
  const { query, schema } = database;
  const inSchema = (text: string): string => text.replaceAll('@', schema);
  await query(`create schema ${schema}; ${inSchema(before)}`);
  await query(`
    create table ${schema}.things (
      id ${inSchema(type)}, n int not null, created_at timestamptz not null default now() - interval '1 minute',
      state text not null default 'live', v text, j jsonb, b bytea, a text[],
      lock_id uuid, locked_until timestamptz, primary key (${id.join(', ')})
    )`);
  await query(`insert into ${schema}.things (id, n) values ${ids.map((value, n) => `(${value}, ${n})`).join(', ')}`);
  return workTable<Row>({
    table: [schema, 'things'],
    id,
    orderBy: 'created_at',
    live: sql`state = 'live'`,
    done: { state: 'done' },
    dead: { set: { state: 'dead' } },
  });
}

const valuesOf = (n: number): SetValues => {
  return { v: n === 1 ? '' : `v${n}`, j: { n }, b: n === 0 ? null : Buffer.from([n, 255]), a: [`a${n}`, null] };
};

function outcomeOf(row: Row, outcome: Outcome['outcome']): Outcome<Row> {
  const set = valuesOf(row.n);
  return outcome === 'retry' ? { row, outcome, set, after: 60_000 * (row.n + 1) } : { row, outcome, set };
}

describe.for([
  ['one column', ['id']],
  ['two columns', ['id', 'n']],
] as const)('rows with an id of %s are settled by a session that writes ids in another way', ([, id]) => {
  test.for(Object.keys(IDS))('of type %s', async (name, { database }) => {
    const { query, pool, schema } = database;
    const things = await createThings(database, IDS[name] as Ids, [...id]);
    const client = await pool.connect();
    try {
      await client.query(OTHER_SESSION);
      for (const outcome of ['done', 'retry', 'release', 'bury'] as const) {
        await query(`update ${schema}.things set state = 'live', v = null, lock_id = null, locked_until = null`);
        const claim = await things.claim(pool, { limit: 100 });
        await query(`update ${schema}.things set lock_id = gen_random_uuid() where n = 0`);
        const fates = await claim.settle(
          claim.rows.map((row) => outcomeOf(row, outcome)),
          { client },
        );
        expect(fates).toEqual(claim.rows.map(({ n }) => (n === 0 ? 'lost' : 'done')));
        const written = await query(
          `select n, v, j, b, a, locked_until > now() as waits from ${schema}.things where n > 0 order by n`,
        );
        const waits = outcome === 'retry' ? true : null;
        expect(written).toEqual(written.map((_row, index) => ({ n: index + 1, ...valuesOf(index + 1), waits })));
        claim.close();
      }
    } finally {
      client.release(true);
    }
  });
});
