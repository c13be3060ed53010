import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type SqlClient, sql } from '@leasehold/core/work';
import { describe, expect, onTestFinished } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { spyLogger } from '../support/spy-logger.ts';
import { createDeliveries, deliveriesOf, endLeases, rowsOf } from './support/deliveries.ts';
import { addTasks, createTasks, type Form, FORMS, tasksOf } from './support/tasks.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const MINUTE = 60_000;

/** One connection outside of a transaction, with the statements that went through it. */
async function recording({ pool }: TestDatabase): Promise<{ readonly client: SqlClient; readonly texts: string[] }> {
  const connection = await pool.connect();
  onTestFinished(() => connection.release());
  const texts: string[] = [];
  const query = (text: string, values?: unknown[]) => {
    texts.push(text);
    return connection.query(text, values);
  };
  return { client: { query }, texts };
}

function refusals(): object[] {
  const heard: object[] = [];
  const hear = (message: unknown): void => void heard.push(message as object);
  subscribe('leasehold:work.refused', hear);
  onTestFinished(() => void unsubscribe('leasehold:work.refused', hear));
  return heard;
}

async function check({ query, schema }: TestDatabase, condition: string): Promise<void> {
  await query(`alter table ${schema}.deliveries add constraint theirs check (${condition}) not valid`);
}

/** Refuses every update of these rows, whatever it writes. */
async function guard({ query, schema }: TestDatabase, ids: string, table = 'deliveries'): Promise<void> {
  await query(`create function ${schema}.guard() returns trigger language plpgsql as $$ begin
    if old.id in (${ids}) then raise exception 'not this one'; end if;
    return new;
  end $$`);
  await query(`create trigger guard before update on ${schema}.${table} for each row execute function ${schema}.guard()`);
}

const ids = ({ rows }: { readonly rows: readonly { readonly id: string }[] }): string[] => rows.map(({ id }) => id);
const numbers = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

describe('a row of which a claim cannot be written', () => {
  test('is put away where a check refuses another attempt, and all others are claimed in due order', async ({ database }) => {
    await createDeliveries(database, 20);
    await database.query(`update ${database.schema}.deliveries set attempts = 2 where id in (1, 7)`);
    await check(database, 'attempts <= 2');
    const [logger, heard, { client, texts }] = [spyLogger(), refusals(), await recording(database)];
    const deliveries = deliveriesOf(database, { logger });
    const claim = await deliveries.claim(client);
    expect(ids(claim)).toEqual(['2', '3', '4', '5', '6', '8', '9', '10']);
    expect([claim.buried, new Set(claim.rows.map((row) => row.lock_id))]).toEqual([2, new Set([claim.id])]);
    for (const row of [0, 6]) {
      expect((await rowsOf(database))[row]).toMatchObject({ attempts: 2, failed_at: expect.any(Date), locked_until: null });
      expect((await rowsOf(database))[row]?.error).toMatch(/"theirs"/);
    }
    expect(logger.lines.map(({ level, text }) => [level, /put away.*"theirs"/.test(text)])).toEqual([
      ['warn', true],
      ['warn', true],
    ]);
    expect(heard).toEqual(['1', '7'].map((id) => ({ table: 'deliveries', row: { id }, error: code('23514') })));
    expect(await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })))).toEqual(claim.rows.map(() => 'done'));
    texts.length = 0;
    expect(ids(await deliveries.claim(client))).toEqual(numbers(11, 20));
    expect(texts).toHaveLength(1);
  });

  test('is left out where a trigger refuses it: told once, tried again after a lease, and then after two', async ({
    database,
  }) => {
    await createDeliveries(database, 30);
    await guard(database, '3');
    const [logger, heard, clock, { client, texts }] = [spyLogger(), refusals(), manualClock(), await recording(database)];
    const deliveries = deliveriesOf(database, { logger, clock });
    const claimed: string[] = [];
    const claim = async (limit: number): Promise<number> => {
      texts.length = 0;
      const next = await deliveries.claim(client, { limit, lease: MINUTE });
      next.close();
      claimed.push(...ids(next));
      return texts.length;
    };
    expect(await claim(10)).toBeGreaterThan(1);
    expect(claimed).toEqual(numbers(1, 10).filter((id) => id !== '3'));
    expect(await claim(5)).toBe(1);
    clock.jump(MINUTE);
    expect(await claim(5)).toBeGreaterThan(1);
    clock.jump(MINUTE);
    expect(await claim(5)).toBe(1);
    clock.jump(MINUTE);
    expect(await claim(2)).toBeGreaterThan(1);
    expect(claimed).toEqual(numbers(1, 25).filter((id) => id !== '3'));
    expect((await rowsOf(database))[2]).toMatchObject({ attempts: 0, lock_id: null, locked_until: null, failed_at: null });
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatchObject({
      level: 'warn',
      fields: { row: { id: '3' } },
      text: expect.stringMatching(/not this one/),
    });
    expect(heard).toHaveLength(3);
  });

  test('is not put away for what `onClaim` writes, and others may claim it', async ({ database }) => {
    await createDeliveries(database, 6);
    await database.query(`update ${database.schema}.deliveries set attempts = 1`);
    await check(database, `id <> 2 or error is distinct from 'mine'`);
    const claim = await deliveriesOf(database).claim(database.pool, { onClaim: { error: 'mine' } });
    expect([ids(claim), claim.buried]).toEqual([['1', '3', '4', '5', '6'], 0]);
    expect(ids(await deliveriesOf(database).claim(database.pool))).toEqual(['2']);
  });

  test('is not put away where a trigger refuses it, which may have changed its mind by then', async ({ database }) => {
    await createDeliveries(database, 3);
    const { query, schema } = database;
    await query(`update ${schema}.deliveries set attempts = 1`);
    await query(`create function ${schema}.meter() returns trigger language plpgsql as $$ begin
      if old.id = 2 and new.attempts > old.attempts then raise exception 'not now'; end if;
      return new;
    end $$`);
    await query(`create trigger meter before update on ${schema}.deliveries for each row execute function ${schema}.meter()`);
    const claim = await deliveriesOf(database).claim(database.pool);
    expect([ids(claim), claim.buried]).toEqual([['1', '3'], 0]);
    await query(`drop trigger meter on ${schema}.deliveries`);
    expect(ids(await deliveriesOf(database).claim(database.pool))).toEqual(['2']);
  });

  test('lets the next one be claimed, though it is the only one wanted', async ({ database }) => {
    await createDeliveries(database, 4);
    await guard(database, '1, 2');
    const deliveries = deliveriesOf(database);
    expect(ids(await deliveries.claim(database.pool, { limit: 1 }))).toEqual(['3']);
    expect(ids(await deliveries.claim(database.pool, { limit: 1 }))).toEqual(['4']);
  });

  test('is refused together with another, and not alone: one of the two is claimed', async ({ database }) => {
    await createDeliveries(database, 6);
    const { query, schema } = database;
    await query(`create unique index on ${schema}.deliveries ((id % 3)) where lock_id is not null and completed_at is null`);
    const claim = await deliveriesOf(database).claim(database.pool);
    expect(ids(claim)).toEqual(['1', '2', '3']);
    for (const row of claim.rows) await claim.finalize(row);
    expect(ids(await deliveriesOf(database).claim(database.pool))).toEqual(['4', '5', '6']);
  });

  test.for(Object.keys(FORMS) as Form[])('is found in the order of the form %s', async (form, { database }) => {
    await createTasks(database, form);
    for (const tenant of ['a', 'b', null]) {
      for (const priority of [1, 2]) await addTasks(database, { count: 5, tenant, priority, region: null });
    }
    await guard(database, '1, 8, 30', 'tasks');
    const tasks = tasksOf(database, form, { id: ['id', 'created_at'] });
    const claim = await tasks.claim(database.pool, { limit: 12 });
    const others = await tasks.claim(database.pool, { limit: 100 });
    const good = numbers(1, 30).filter((id) => !['1', '8', '30'].includes(id));
    expect(claim.rows.length).toBeGreaterThan(8);
    expect([...ids(claim), ...ids(others)].toSorted()).toEqual(good.toSorted());
    const priorities = claim.rows.map((row) => row.priority);
    if (form === 'priority') expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
    expect(await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })))).toEqual(claim.rows.map(() => 'done'));
  });

  test('is nobody’s loss when many claim at once: each other row is claimed, by one', async ({ database }) => {
    await createDeliveries(database, 200);
    await guard(database, '1, 50, 120');
    const claims = await Promise.all(numbers(1, 6).map(() => deliveriesOf(database).claim(database.pool, { limit: 50 })));
    const rest = await deliveriesOf(database).claim(database.pool, { limit: 200 });
    const all = [...claims, rest].flatMap(ids);
    expect(all.toSorted()).toEqual(
      numbers(1, 200)
        .filter((id) => !['1', '50', '120'].includes(id))
        .toSorted(),
    );
    expect(new Set((await rowsOf(database)).map(({ attempts }) => attempts))).toEqual(new Set([0, 1]));
  });
});

test('a row that a refused statement still holds locked is claimed by a second look', async ({ database }) => {
  await createDeliveries(database, 4);
  await guard(database, '4');
  const [{ client }, holder] = [await recording(database), await database.pool.connect()];
  onTestFinished(() => holder.release());
  let given = 0;
  // As on two connections: the error of one is heard before its locks are gone, and the next statement is on the other.
  const racing: SqlClient = {
    query: async (text, values) => {
      if (text.includes('leasehold_given')) given += 1;
      await holder.query(given === 2 ? `begin; select 1 from ${database.schema}.deliveries where id = 1 for update` : 'begin');
      const answer = client.query(text, values);
      await answer.catch(() => {});
      await holder.query('rollback');
      return answer;
    },
  };
  expect(ids(await deliveriesOf(database).claim(racing))).toEqual(['1', '2', '3']);
});

test('rows that another worker has claimed, finished or got back meanwhile are not claimed, and not put away', async ({
  database,
}) => {
  await createDeliveries(database, 6);
  const { query, schema } = database;
  await query(`update ${schema}.deliveries set attempts = 5 where id = 5`);
  await guard(database, '3');
  const { client } = await recording(database);
  let isListed = false;
  const late: SqlClient = {
    query: async (text, values) => {
      if (!isListed && text.includes('leasehold_given')) {
        isListed = true;
        await query(
          `update ${schema}.deliveries set lock_id = gen_random_uuid(), locked_until = clock_timestamp() + '1 hour' where id = 1`,
        );
        await query(`update ${schema}.deliveries set completed_at = clock_timestamp() where id = 2`);
        await query(`update ${schema}.deliveries set attempts = 0 where id = 5`);
      }
      return client.query(text, values);
    },
  };
  const claim = await deliveriesOf(database).claim(late);
  expect([isListed, ids(claim), claim.buried]).toEqual([true, ['4', '6'], 0]);
});

describe('a row that cannot be put away', () => {
  test('keeps neither claims nor the burial of others', async ({ database }) => {
    await createDeliveries(database, 10);
    await database.query(`update ${database.schema}.deliveries set attempts = 5 where id in (2, 3, 4)`);
    await check(database, 'failed_at is null or id <> 3');
    const [logger, { client, texts }] = [spyLogger(), await recording(database)];
    const deliveries = deliveriesOf(database, { logger });
    const claim = await deliveries.claim(client, { limit: 5 });
    expect([ids(claim), claim.buried]).toEqual([['1', '5', '6', '7', '8'], 2]);
    const dead = (await rowsOf(database)).filter((row) => row.failed_at !== null);
    expect(dead.map(({ id, error }) => [id, error])).toEqual([
      ['2', 'attempts used up'],
      ['4', 'attempts used up'],
    ]);
    texts.length = 0;
    expect(ids(await deliveries.claim(client, { limit: 5 }))).toEqual(['9', '10']);
    expect(texts).toHaveLength(1);
    expect(logger.lines.map(({ fields }) => fields)).toEqual([expect.objectContaining({ row: { id: '3' }, err: code('23514') })]);
  });

  test('nor claimed is left out: its attempts are at an end for the check, and `dead` is refused too', async ({ database }) => {
    await createDeliveries(database, 4);
    await database.query(`update ${database.schema}.deliveries set attempts = 1 where id = 1`);
    await check(database, 'id <> 1 or (attempts < 2 and failed_at is null)');
    const logger = spyLogger();
    const claim = await deliveriesOf(database, { logger }).claim(database.pool);
    expect([ids(claim), claim.buried]).toEqual([['2', '3', '4'], 0]);
    expect(logger.lines.map(({ text }) => /left out/.test(text))).toEqual([true]);
  });
});

describe('where the database refuses every row', () => {
  test('a claim says so after a bounded number of statements, and puts no row away that nobody has tried', async ({
    database,
  }) => {
    await createDeliveries(database, 1_000);
    await check(database, 'attempts = 0');
    const { client, texts } = await recording(database);
    const deliveries = deliveriesOf(database);
    const before = await rowsOf(database);
    for (let call = 0; call < 3; call++) {
      texts.length = 0;
      const claiming = deliveries.claim(client, { limit: 100 });
      await expect(claiming).rejects.toThrow(code('LEASEHOLD_CLAIM_REFUSED'));
      await expect(claiming).rejects.toThrow(/"theirs"/);
      await expect(claiming).rejects.toMatchObject({ cause: code('23514') });
      expect(texts.length).toBeLessThan(55);
    }
    expect(await rowsOf(database)).toEqual(before);
  });

  test('and there are more than a few, a claim says so', async ({ database }) => {
    await createDeliveries(database, 4);
    await guard(database, '1, 2, 3, 4');
    const deliveries = deliveriesOf(database);
    await expect(deliveries.claim(database.pool)).rejects.toThrow(code('LEASEHOLD_CLAIM_REFUSED'));
    expect((await deliveries.claim(database.pool)).rows).toEqual([]);
  });

  test('and there are few, a claim finds nothing, and the log says why', async ({ database }) => {
    await createDeliveries(database, 3);
    await guard(database, '1, 2, 3');
    const [logger, { client, texts }] = [spyLogger(), await recording(database)];
    const deliveries = deliveriesOf(database, { logger });
    expect((await deliveries.claim(client)).rows).toEqual([]);
    expect(logger.lines.map(({ fields }) => fields)).toEqual(
      ['1', '2', '3'].map((id) => expect.objectContaining({ row: { id } })),
    );
    texts.length = 0;
    expect((await deliveries.claim(client)).rows).toEqual([]);
    expect(texts).toHaveLength(1);
  });

  test('of ten thousand, the first refused one is found within the bound', async ({ database }) => {
    await createDeliveries(database, 10_000);
    await guard(database, '9999');
    const { client, texts } = await recording(database);
    expect((await deliveriesOf(database).claim(client, { limit: 10_000 })).rows).toHaveLength(9_999);
    expect(texts.length).toBeLessThan(50);
  });
});

describe('a claim that is refused', () => {
  test('in a transaction of the caller’s tells that this has to be rolled back', async ({ database }) => {
    await createDeliveries(database, 3);
    await guard(database, '2');
    const deliveries = deliveriesOf(database);
    const client = await database.pool.connect();
    await client.query('begin');
    const claiming = deliveries.claim(client);
    await expect(claiming).rejects.toThrow(code('LEASEHOLD_CLAIM_REFUSED'));
    await expect(claiming).rejects.toThrow(/roll it back/);
    await expect(claiming).rejects.toMatchObject({ cause: code('P0001') });
    await client.query('rollback');
    expect(ids(await deliveries.claim(client))).toEqual(['1', '3']);
    client.release();
  });

  test('for its `where`, which fails at a row, is told as it is', async ({ database }) => {
    await createDeliveries(database, 3);
    const logger = spyLogger();
    const claiming = deliveriesOf(database, { logger }).claim(database.pool, { where: sql`10 / (id - 2) > 0` });
    await expect(claiming).rejects.toThrow(code('22012'));
    expect(logger.lines).toEqual([]);
  });

  test.for(numbers(3, 12))('and breaks off at statement %s keeps what was leased until then', async (last, { database }) => {
    await createDeliveries(database, 10);
    await guard(database, '8');
    const { client, texts } = await recording(database);
    const breaking: SqlClient = {
      query: (text, values) =>
        texts.length >= Number(last)
          ? Promise.reject(Object.assign(new Error('gone'), { code: '08006' }))
          : client.query(text, values),
    };
    const claim = await deliveriesOf(database)
      .claim(breaking)
      .catch(() => null);
    const leased = (await rowsOf(database)).filter((row) => row.lock_id !== null);
    expect(claim === null ? [] : ids(claim)).toEqual(leased.map(({ id }) => id));
    await endLeases(database);
  });
});

test('a worker goes on beside rows that the database refuses', async ({ database }) => {
  await createDeliveries(database, 300);
  await guard(database, '1, 2, 3, 4, 5, 6, 7, 8, 100, 299');
  const { client, texts } = await recording(database);
  const logger = spyLogger();
  const worker = deliveriesOf(database, { logger }).work(client, { minIdle: '20ms', maxIdle: '100ms', handler: () => {} });
  await expect.poll(() => worker.stats().done).toBe(290);
  texts.length = 0;
  // What is refused is not asked for again: those claims are of one statement each.
  await expect.poll(() => texts.length).toBeGreaterThan(5);
  expect(texts.filter((text) => text.includes('leasehold_given'))).toEqual([]);
  await worker.stop();
  expect((await rowsOf(database)).filter((row) => row.completed_at === null)).toHaveLength(10);
  expect(logger.lines.filter(({ text }) => /left out/.test(text))).toHaveLength(10);
});
