import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Clock, type HeartbeatMessage, isLeaseholdError, type Logger, systemClock } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { startTcpProxy } from '../../../testing/src/index.ts';
import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { test as behindPgBouncer } from '../../../../test/support/pgbouncer-test.ts';
import { callWithin, instanceOn, openStore, storeOn } from '../support/postgres-lease.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const FAST = { leaseDuration: '3s', renewInterval: '500ms', safetyMargin: '300ms' } as const;

async function faulty(
  database: TestDatabase,
): Promise<{ proxy: Awaited<ReturnType<typeof startTcpProxy>>; connectionString: string }> {
  const proxy = await startTcpProxy({ targetPort: Number(new URL(database.connectionString).port) });
  onTestFinished(() => proxy.stop());
  return { proxy, connectionString: proxy.connectionString(database.connectionString) };
}

/** Backends of this test, by a name of its own. */
async function backends(database: TestDatabase): Promise<{ pid: number; query: string }[]> {
  return database.query('select pid, query from pg_stat_activity where application_name = $1', [database.schema]);
}

const named = ({ connectionString, schema }: TestDatabase): { connection: pg.ClientConfig } => ({
  connection: { connectionString, application_name: schema },
});

describe('the connection', () => {
  test('is one, however many roles are held', async ({ database }) => {
    const leasehold = instanceOn(database, { postgres: named(database), ...FAST });
    const leases = Array.from({ length: 50 }, (_, n) => leasehold.role(`role-${n}`));
    await leasehold.start();
    expect(leases.every((lease) => lease.isHeld)).toBe(true);
    expect(await backends(database)).toHaveLength(1);
    await leasehold.stop();
    await expect.poll(() => backends(database)).toHaveLength(0);
  });

  test('is made anew when its backend is terminated, within the term', async ({ database }) => {
    const leasehold = instanceOn(database, { postgres: named(database), ...FAST });
    const lease = leasehold.role('r');
    await leasehold.start();
    const [first] = await backends(database);
    await database.query('select pg_terminate_backend($1)', [first?.pid]);
    await expect.poll(async () => (await backends(database))[0]?.pid ?? first?.pid).not.toBe(first?.pid);
    await expect.poll(() => lease.state).toBe('held');
    expect(lease.fencingToken).toBe(1n);
  });

  test('listens again after it was made anew: a release still wakes it at once', async ({ database }) => {
    const holder = instanceOn(database, { leaseDuration: '60s' });
    holder.role('r');
    await holder.start();
    const store = storeOn(database, named(database));
    const waiting = instanceOn(database, { store, leaseDuration: '60s' });
    const lease = waiting.role('r');
    await waiting.start();
    const [first] = await backends(database);
    await database.query('select pg_terminate_backend($1)', [first?.pid]);
    await expect
      .poll(async () => store.listens && (await backends(database))[0]?.pid !== first?.pid, { timeout: 5_000 })
      .toBe(true);
    await holder.stop();
    await expect.poll(() => lease.isHeld, { timeout: 2_000 }).toBe(true);
  });

  test('is destroyed when a call is given up, and no late answer reaches another call', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    const leasehold = instanceOn(database, { postgres: { connectionString }, ...FAST, callTimeout: '200ms' });
    const lease = leasehold.role('r');
    await leasehold.start();
    await proxy.hang();
    await expect.poll(() => lease.state, { timeout: 2_000 }).toBe('jeopardy');
    await expect.poll(() => lease.isHeld, { timeout: 4_000 }).toBe(false);
    await proxy.heal();
    await expect.poll(() => lease.isHeld, { timeout: 4_000 }).toBe(true);
    // More than one higher where a call that was given up has taken effect all the same.
    expect(lease.fencingToken).toBeGreaterThan(1n);
  });

  test('survives a database that is cut off for less than the window, with the term unbroken', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    const leasehold = instanceOn(database, { postgres: { connectionString }, ...FAST });
    const lease = leasehold.role('r');
    await leasehold.start();
    await proxy.cut();
    await expect.poll(() => lease.state, { timeout: 2_000 }).toBe('jeopardy');
    await proxy.heal();
    await expect.poll(() => lease.state, { timeout: 2_000 }).toBe('held');
    expect(lease.fencingToken).toBe(1n);
  });

  test('takes a role whose reply was lost under a new token, when the replies come again', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    await openStore(database, 'reader');
    await database.query(`insert into ${database.schema}.role_lease (role) values ('r')`);
    const leasehold = instanceOn(database, {
      postgres: { connectionString },
      ...FAST,
      callTimeout: '300ms',
      startup: 'background',
    });
    await leasehold.start();
    await expect.poll(async () => (await database.query(`select from ${database.schema}.instance`)).length).toBe(1);
    await proxy.dropReplies();
    const lease = leasehold.role('r');
    const named = async (): Promise<unknown> =>
      (await database.query(`select holder from ${database.schema}.role_lease where role = 'r'`))[0]?.['holder'];
    const given: unknown[] = [];
    const onBeat = (message: unknown): void => void given.push((message as HeartbeatMessage).outcome);
    subscribe('leasehold:heartbeat', onBeat);
    onTestFinished(() => void unsubscribe('leasehold:heartbeat', onBeat));
    await expect.poll(named, { timeout: 5_000 }).toBe(leasehold.instance.id);
    // Until the call is given up its reply may still be on its way, and would come with the healing.
    await expect.poll(() => given, { timeout: 5_000 }).toContain('timeout');
    expect(lease.isHeld).toBe(false);
    await proxy.heal();
    await expect.poll(() => lease.isHeld, { timeout: 5_000 }).toBe(true);
    expect(lease.fencingToken).toBeGreaterThan(1n);
  });

  test('is left when the server has become a read-only standby', async ({ database }) => {
    // A role of its own: other tests share the server.
    const user = `ro_${database.schema.slice(-6)}`;
    await database.query(`create role ${user} login superuser password 'p'`);
    onTestFinished(async () => void (await database.query(`drop owned by ${user} cascade; drop role ${user}`)));
    const url = new URL(database.connectionString);
    [url.username, url.password] = [user, 'p'];
    const store = await openStore(database, 'a', named({ ...database, connectionString: url.href }));
    const [before] = await backends(database);
    await database.query(`alter role ${user} set default_transaction_read_only = on`);
    await database.query('select pg_terminate_backend($1)', [before?.pid]);
    const request = {
      instance: { id: 'a', label: 'a', address: null },
      instanceTtlMs: 1_000,
      renew: [],
      acquire: [],
      observe: [],
    };
    await expect
      .poll(() => store.heartbeat(request, callWithin(2_000)).catch((error: unknown) => error))
      .toMatchObject({ code: 'LEASEHOLD_STORE_UNAVAILABLE', cause: { code: '25006' } });
    await expect.poll(() => backends(database)).toHaveLength(0);
  });

  test('gives the server a time limit of its own', async ({ database }) => {
    await openStore(database, 'a', named(database));
    const [backend] = await backends(database);
    expect(backend?.query).toContain('delete');
    const store = await openStore(database, 'b', named(database));
    expect(store.listens).toBe(true);
  });

  test('copies the options of a pool, password and all, and takes no client of it', async ({ database }) => {
    const url = new URL(database.connectionString);
    const pool = new pg.Pool({
      host: url.hostname,
      port: Number(url.port),
      user: url.username,
      password: url.password,
      database: url.pathname.slice(1),
      max: 1,
    });
    onTestFinished(() => pool.end());
    const starving = await pool.connect();
    const leasehold = instanceOn(database, { postgres: { pool } });
    const lease = leasehold.role('r');
    await leasehold.start();
    expect(lease.isHeld).toBe(true);
    expect(pool.totalCount).toBe(1);
    starving.release();
  });
});

describe('start without a database', () => {
  test('waits until it is there, and elects nobody before', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    await proxy.cut();
    const leasehold = instanceOn(database, { postgres: { connectionString }, ...FAST });
    const lease = leasehold.role('r');
    let started = false;
    const start = leasehold.start().then(() => (started = true));
    await expect(Promise.race([start, new Promise((resolve) => setTimeout(resolve, 700, 'waiting'))])).resolves.toBe('waiting');
    expect([started, lease.isHeld]).toEqual([false, false]);
    await proxy.heal();
    await start;
    expect(lease.isHeld).toBe(true);
  });

  test('fails by option, with the cause and without the password', async ({ database }) => {
    const leasehold = instanceOn(database, {
      postgres: { connectionString: 'postgres://user:s3cret@127.0.0.1:1/db' },
      startup: 'fail',
    });
    const error = await leasehold.start().catch((caught: unknown) => caught);
    expect(error).toEqual(code('LEASEHOLD_STORE_UNAVAILABLE'));
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('s3cret');
  });

  test('stop ends a start that hangs in the database', async ({ database }) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const leasehold = instanceOn(database, { postgres: { connectionString: `postgres://u@127.0.0.1:${port}/db` } });
    const start = expect(leasehold.start()).rejects.toEqual(code('LEASEHOLD_STOPPED'));
    const began = performance.now();
    await leasehold.stop();
    await start;
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('taking over', () => {
  test('follows a graceful stop within 250 ms by LISTEN (median of 20)', async ({ database }) => {
    const times: number[] = [];
    let holder = instanceOn(database, { leaseDuration: '15s' });
    holder.role('r');
    await holder.start();
    for (let round = 0; round < 20; round += 1) {
      const next = instanceOn(database, { leaseDuration: '15s' });
      const lease = next.role('r');
      await next.start();
      const began = performance.now();
      await holder.stop();
      await expect.poll(() => lease.isHeld, { interval: 2, timeout: 5_000 }).toBe(true);
      times.push(performance.now() - began);
      holder = next;
    }
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(250);
  });

  test('tells everybody the new holder and its address without waiting for a heartbeat', async ({ database }) => {
    const [a, b] = [
      instanceOn(database, { leaseDuration: '60s' }),
      instanceOn(database, { leaseDuration: '60s', instance: { address: 'http://b.test:1' } }),
    ];
    const seen = a.role('r');
    await a.start();
    await a.standAside();
    const held = b.role('r');
    await b.start();
    expect(held.isHeld).toBe(true);
    await expect.poll(() => seen.currentHolderAddress, { timeout: 2_000 }).toBe('http://b.test:1');
  });

  test('an address that a holder learns late reaches the others without waiting for a heartbeat', async ({ database }) => {
    const [a, b] = [instanceOn(database, { leaseDuration: '60s' }), instanceOn(database, { leaseDuration: '60s' })];
    a.role('r');
    const seen = b.role('r');
    await a.start();
    await b.start();
    expect([seen.currentHolder, seen.currentHolderAddress]).toEqual([a.instance.id, null]);
    a.advertise('http://a.test:1');
    await expect.poll(() => seen.currentHolderAddress, { timeout: 2_000 }).toBe('http://a.test:1');
  });

  test('does not make a process that restarts under the same label its former self', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    const label = 'app-0';
    const before = instanceOn(database, { postgres: { connectionString }, instance: { label }, leaseDuration: '1s' });
    before.role('r');
    await before.start();
    await proxy.cut();
    const after = instanceOn(database, { instance: { label }, leaseDuration: '1s' });
    const lease = after.role('r');
    await after.start();
    expect([lease.isHeld, lease.currentHolder]).toEqual([false, before.instance.id]);
    await expect.poll(() => lease.isHeld, { timeout: 5_000 }).toBe(true);
    expect([lease.fencingToken, lease.currentHolder]).toEqual([2n, after.instance.id]);
  });

  test('comes when a silent holder has run out, not before', async ({ database }) => {
    const { proxy, connectionString } = await faulty(database);
    const a = instanceOn(database, { postgres: { connectionString }, leaseDuration: '1s' });
    const b = instanceOn(database, { leaseDuration: '1s' });
    const [held, candidate] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    await proxy.hang();
    await expect.poll(() => candidate.isHeld, { interval: 5, timeout: 5_000 }).toBe(true);
    expect(held.isHeld).toBe(false);
    const [term] = await database.query<{ gap: number }>(
      `select extract(epoch from l.acquired_at - t.ended_at)::float8 as gap from ${database.schema}.role_term t join ${database.schema}.role_lease l using (role)`,
    );
    expect(term?.gap).toBeGreaterThanOrEqual(0);
    expect(term?.gap).toBeLessThan(1);
  });

  test.for([3_600_000, -3_600_000])('is untouched by a client clock that is off by %d ms', async (offMs, { database }) => {
    const clock: Clock = { ...systemClock, wall: () => systemClock.wall() + offMs };
    const [a, b] = [instanceOn(database, { clock, leaseDuration: '1s' }), instanceOn(database, { leaseDuration: '1s' })];
    const [ra, rb] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    expect([ra.isHeld, rb.isHeld, rb.currentHolder]).toEqual([true, false, a.instance.id]);
    await a.stop();
    await expect.poll(() => rb.isHeld).toBe(true);
  });
});

describe('through PgBouncer in transaction mode', () => {
  behindPgBouncer('works by polling alone, with no session state left behind', async ({ database, pgbouncer }) => {
    const { connectionString } = pgbouncer;
    const [a, b] = [
      instanceOn(database, { postgres: { connectionString }, ...FAST }),
      instanceOn(database, { postgres: { connectionString }, ...FAST }),
    ];
    const [ra, rb] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    expect([ra.isHeld, rb.isHeld]).toEqual([true, false]);
    const began = performance.now();
    await a.stop();
    await expect.poll(() => rb.isHeld, { interval: 5, timeout: 5_000 }).toBe(true);
    expect(performance.now() - began).toBeLessThan(500 + 1_000);
    const client = new pg.Client({ connectionString });
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query(
      `select current_setting('statement_timeout') as timeout, (select count(*) from pg_listening_channels())::int as channels`,
    );
    expect(rows).toEqual([{ timeout: '0', channels: 0 }]);
  });

  behindPgBouncer('keeps its term while PgBouncer hands it other backends', async ({ database, pgbouncer }) => {
    const store = storeOn(database, { connectionString: pgbouncer.connectionString });
    const leasehold = instanceOn(database, { store, ...FAST });
    const lease = leasehold.role('r');
    await leasehold.start();
    expect(store.listens).toBe(false);
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database() and application_name not like 'leasehold_pool%'`,
    );
    await expect.poll(() => lease.state, { timeout: 5_000 }).toBe('held');
  });
});

describe('bad options', () => {
  test('none, several or malformed connection sources are refused, with no value shown', () => {
    const sources = [
      {},
      { connectionString: undefined },
      { connectionString: '' },
      { connectionString: 'postgres://u:s3cret@h:1/d', connection: {} },
      { pool: {} as pg.Pool },
      { connectionString: 'postgres://u:s3cret@[bad/d' },
    ];
    for (const source of sources) {
      const error = caught(() => postgresStore(source));
      expect(error).toEqual(code('LEASEHOLD_INVALID_OPTION'));
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('s3cret');
    }
  });

  test('a schema that is no identifier, a mode and a duration that are none', () => {
    const connectionString = 'postgres://h/d';
    for (const options of [{ schema: '' }, { schema: 'x'.repeat(64) }, { schema: 'a\u0000' }, { migrate: 'yes' as never }]) {
      expect(caught(() => postgresStore({ connectionString, ...options }))).toEqual(code('LEASEHOLD_INVALID_OPTION'));
    }
    expect(caught(() => postgresStore({ connectionString, keepTerms: 'x' as never }))).toEqual(
      code('LEASEHOLD_INVALID_DURATION'),
    );
  });

  test('a store that is closed says so', async ({ database }) => {
    const store = await openStore(database, 'a');
    await store.close();
    await store.close();
    const request = {
      instance: { id: 'a', label: 'a', address: null },
      instanceTtlMs: 1_000,
      renew: [],
      acquire: [],
      observe: [],
    };
    await expect(store.heartbeat(request, callWithin(1_000))).rejects.toSatisfy((error) =>
      isLeaseholdError(error, 'LEASEHOLD_STORE_CLOSED'),
    );
  });

  test('a change of state is logged once, a heartbeat never', async ({ database }) => {
    const lines: string[] = [];
    const log = (_: object, message: string): void => void lines.push(message);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const leasehold = instanceOn(database, { logger, leaseDuration: '500ms' });
    const lease = leasehold.role('r');
    await leasehold.start();
    await expect
      .poll(async () =>
        Number(
          (
            await database.query(
              `select extract(epoch from clock_timestamp() - acquired_at) as s from ${database.schema}.role_lease`,
            )
          )[0]?.['s'],
        ),
      )
      .toBeGreaterThan(0.6);
    expect(lease.fencingToken).toBe(1n);
    await leasehold.stop();
    expect(lines).toEqual(['role acquired', 'role lost: this instance is stopping']);
  });
});

function caught(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}
