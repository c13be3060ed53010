import { isLeaseholdError, type LeaseStore, type Term } from '@leasehold/core';
import { createFence, withFence } from '@leasehold/core/postgres';
import type pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore } from '../support/postgres-lease.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

async function connect(database: TestDatabase): Promise<pg.PoolClient> {
  const client = await database.pool.connect();
  onTestFinished(() => client.release(true));
  return client;
}

async function acquire(store: LeaseStore, id: string, leaseMs = 60_000): Promise<{ outcome: string | undefined; token: bigint }> {
  const request = {
    instance: instance(id),
    instanceTtlMs: 60_000,
    renew: [],
    acquire: [{ role: 'r', leaseMs, tokenFloor: 0n }],
    observe: [],
  };
  const { roles } = await store.heartbeat(request, callWithin(2_000));
  return { outcome: roles[0]?.outcome, token: roles[0]?.fencingToken ?? 0n };
}

async function renew(store: LeaseStore, id: string, fencingToken: bigint): Promise<string | undefined> {
  const request = {
    instance: instance(id),
    instanceTtlMs: 60_000,
    renew: [{ role: 'r', fencingToken }],
    acquire: [],
    observe: [],
  };
  return (await store.heartbeat(request, callWithin(2_000))).roles[0]?.outcome;
}

describe('the three facts that the fence stands on', () => {
  test('a renewal passes it', async ({ database }) => {
    const store = await openStore(database, 'a');
    const { token } = await acquire(store, 'a');
    const client = await connect(database);
    await client.query('begin');
    await store.fence(client, { role: 'r', holder: 'a', fencingToken: token });
    expect(await renew(store, 'a', token)).toBe('renewed');
    await client.query('commit');
  });

  test('a takeover waits for it, even of a lease that has run out', async ({ database }) => {
    const [a, b] = [await openStore(database, 'a'), await openStore(database, 'b')];
    const { token } = await acquire(a, 'a');
    const client = await connect(database);
    await client.query('begin');
    await a.fence(client, { role: 'r', holder: 'a', fencingToken: token });
    await database.query(`update ${database.schema}.role_lease set expires_at = clock_timestamp()`);
    expect((await acquire(b, 'b')).outcome).toBe('busy');
    await client.query('commit');
    expect(await acquire(b, 'b')).toEqual({ outcome: 'acquired', token: token + 1n });
  });

  test('without the unique constraint on (role, fencing_token) there is none', async ({ database }) => {
    const a = await openStore(database, 'a');
    await database.query(`alter table ${database.schema}.role_lease drop constraint role_lease_role_fencing_token_key`);
    const { token } = await acquire(a, 'a');
    const client = await connect(database);
    await client.query('begin');
    await a.fence(client, { role: 'r', holder: 'a', fencingToken: token });
    await database.query(`update ${database.schema}.role_lease set expires_at = clock_timestamp()`);
    // The lock of the takeover conflicts all the same, being FOR UPDATE; an UPDATE by itself would not.
    const taken = await database.query(
      `update ${database.schema}.role_lease set fencing_token = fencing_token + 1 returning role`,
    );
    expect(taken).toHaveLength(1);
    await client.query('commit');
  });

  test('with it, even a hand-written takeover waits', async ({ database }) => {
    const store = await openStore(database, 'a');
    const { token } = await acquire(store, 'a');
    const [client, other] = [await connect(database), await connect(database)];
    await client.query('begin');
    await store.fence(client, { role: 'r', holder: 'a', fencingToken: token });
    await other.query(`set lock_timeout = '100ms'`);
    const takeover = `update ${database.schema}.role_lease set fencing_token = fencing_token + 1`;
    await expect(other.query(takeover)).rejects.toThrow(/lock timeout/);
    await client.query('commit');
    expect((await other.query(takeover)).rowCount).toBe(1);
  });

  test('with FOR SHARE the holder would block its own renewals', async ({ database }) => {
    const store = await openStore(database, 'a');
    const { token } = await acquire(store, 'a');
    const client = await connect(database);
    await client.query('begin');
    await client.query(`select from ${database.schema}.role_lease for share`);
    expect(await renew(store, 'a', token)).toBe('busy');
    await client.query('commit');
    expect(await renew(store, 'a', token)).toBe('renewed');
  });
});

async function heldTerm(database: TestDatabase): Promise<{ term: Term; expire: () => Promise<unknown> }> {
  const leasehold = instanceOn(database, { leaseDuration: '60s' });
  const lease = leasehold.role('r');
  await leasehold.start();
  const result = await lease.whileHeld((term) => term);
  if (!result.ran) return expect.unreachable('the only instance holds');
  const expire = (): Promise<unknown> =>
    database.query(`update ${database.schema}.role_lease set expires_at = clock_timestamp()`);
  return { term: result.value, expire };
}

describe('withFence', () => {
  test('commits the work of the current term, and gives the client back', async ({ database }) => {
    const { term } = await heldTerm(database);
    await database.query(`create table ${database.schema}.written (token bigint)`);
    const value = await withFence(database.pool, term, async (client) => {
      await client.query(`insert into ${database.schema}.written values ($1)`, [String(term.fencingToken)]);
      return 'done';
    });
    expect(value).toBe('done');
    expect(await database.query(`select token from ${database.schema}.written`)).toEqual([{ token: '1' }]);
    expect([database.pool.idleCount, database.pool.waitingCount]).toEqual([database.pool.totalCount, 0]);
  });

  test('refuses a term that the database has ended, although this instance still believes in it', async ({ database }) => {
    const { term, expire } = await heldTerm(database);
    await expire();
    expect(term.isHeld).toBe(true);
    await expect(withFence(database.pool, term, () => expect.unreachable())).rejects.toEqual(code('LEASEHOLD_FENCED'));
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  test('rolls back what the work throws', async ({ database }) => {
    const { term } = await heldTerm(database);
    await database.query(`create table ${database.schema}.written (token bigint)`);
    const work = withFence(database.pool, term, async (client) => {
      await client.query(`insert into ${database.schema}.written values (1)`);
      throw new Error('mine');
    });
    await expect(work).rejects.toThrow('mine');
    expect(await database.query(`select from ${database.schema}.written`)).toEqual([]);
  });

  test('says so when a swallowed error has made PostgreSQL roll back at commit', async ({ database }) => {
    const { term } = await heldTerm(database);
    const work = withFence(database.pool, term, (client) => client.query('select 1/0').catch(() => 'swallowed'));
    await expect(work).rejects.toEqual(code('LEASEHOLD_ROLLED_BACK'));
  });

  test('does not let a stalled transaction hold off a failover: the server ends it', async ({ database }) => {
    const { term } = await heldTerm(database);
    const { promise: never } = Promise.withResolvers<never>();
    let ended: Error | undefined;
    const stalled = withFence(
      database.pool,
      term,
      (client) => {
        client.once('error', (error: Error) => (ended = error));
        return Promise.race([never, new Promise((resolve) => client.once('end', resolve))]);
      },
      { stallTimeout: 200 },
    );
    await expect(stalled).rejects.toThrow();
    expect(ended?.message).toMatch(/idle-in-transaction/);
    await expect(
      withFence(database.pool, term, (client) => client.query('select pg_sleep(5)'), { stallTimeout: 200 }),
    ).rejects.toThrow(/statement timeout/);
    expect((await database.pool.query('select 1')).rowCount).toBe(1);
  });

  test('refuses a stallTimeout that is no duration, before it takes a client', async ({ database }) => {
    const { term } = await heldTerm(database);
    const total = database.pool.totalCount;
    await expect(withFence(database.pool, term, async () => {}, { stallTimeout: '5 seconds' as never })).rejects.toEqual(
      code('LEASEHOLD_INVALID_DURATION'),
    );
    expect(database.pool.totalCount).toBe(total);
  });
});

describe('term.fence', () => {
  test('refuses a client without a transaction, a pool, and what is no client', async ({ database }) => {
    const { term } = await heldTerm(database);
    const client = await connect(database);
    await expect(term.fence(client)).rejects.toEqual(code('LEASEHOLD_FENCE_NEEDS_TRANSACTION'));
    await expect(term.fence(database.pool)).rejects.toEqual(code('LEASEHOLD_FENCE_UNSUPPORTED'));
    for (const nothing of [null, undefined, {}, 'client']) {
      await expect(term.fence(nothing)).rejects.toEqual(code('LEASEHOLD_FENCE_UNSUPPORTED'));
    }
  });

  test("names the grants when the application's own user lacks the right, and leaves other errors as they are", async ({
    database,
  }) => {
    const { term } = await heldTerm(database);
    const user = `fence_${database.schema.slice(-6)}`;
    await database.query(`create role ${user}`);
    onTestFinished(async () => void (await database.query(`drop role ${user}`)));
    const client = await connect(database);
    await client.query(`begin; set local role ${user}`);
    await expect(term.fence(client)).rejects.toEqual(code('LEASEHOLD_PERMISSION_DENIED'));
    // The transaction is aborted now: that is the caller's to see, SQLSTATE and all.
    await expect(term.fence(client)).rejects.toEqual(code('25P02'));
    await client.query('rollback');
  });

  test('finds out about the transaction also through a client that does not tell its state', async ({ database }) => {
    const { term } = await heldTerm(database);
    const client = await connect(database);
    const plain = { query: (text: string, values: unknown[]) => client.query(text, values) };
    await expect(term.fence(plain)).rejects.toEqual(code('LEASEHOLD_FENCE_NEEDS_TRANSACTION'));
    await client.query('begin');
    await term.fence(plain);
    await client.query('rollback');
  });
});

describe('guard', () => {
  test('remembers the highest token of a resource and refuses lower ones', async ({ database }) => {
    await openStore(database, 'a');
    const fence = createFence({ client: database.pool, schema: database.schema });
    await fence.guard('s3://bucket/report', 4n);
    await fence.guard('s3://bucket/report', 4n);
    await fence.guard('s3://bucket/report', 9_007_199_254_740_993n);
    await expect(fence.guard('s3://bucket/report', 9_007_199_254_740_992n)).rejects.toEqual(code('LEASEHOLD_FENCED'));
    await fence.guard('s3://bucket/other', 1n);
  });

  test('is part of the transaction whose client it is given', async ({ database }) => {
    await openStore(database, 'a');
    const client = await connect(database);
    await client.query('begin');
    await createFence({ client, schema: database.schema }).guard('x', 5n);
    await client.query('rollback');
    await createFence({ client: database.pool, schema: database.schema }).guard('x', 1n);
  });

  test('refuses a resource without a name and a token that is none', async ({ database }) => {
    const fence = createFence({ client: database.pool });
    for (const [resource, token] of [
      ['', 1n],
      ['x'.repeat(513), 1n],
      ['x', 0n],
      ['x', 1 as unknown as bigint],
    ] as const) {
      await expect(fence.guard(resource, token)).rejects.toSatisfy((error) =>
        isLeaseholdError(error, 'LEASEHOLD_INVALID_OPTION'),
      );
    }
  });
});
