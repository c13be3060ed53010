import { startPostgres } from '../../../testing/src/index.ts';
import { silentLogger } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore } from '../support/postgres-lease.ts';

/** The same database, as a user whose settings differ. */
async function asUserWith(database: TestDatabase, settings: string): Promise<TestDatabase> {
  const user = `set_${database.schema.slice(-6)}`;
  await database.query(`create role ${user} login superuser password 'p'; ${settings.replaceAll('$', `alter role ${user} set`)}`);
  onTestFinished(async () => void (await database.query(`drop owned by ${user} cascade; drop role ${user}`)));
  const url = new URL(database.connectionString);
  [url.username, url.password] = [user, 'p'];
  return { ...database, connectionString: url.href };
}

describe('defaults of a server or a user that do not suit', () => {
  test('synchronous_commit = off: an acquisition survives a crash of the database all the same', async () => {
    // The writer of the log is so slow that what a commit does not flush itself is lost.
    await using server = await startPostgres({ postgresFlags: ['-c', 'synchronous_commit=off', '-c', 'wal_writer_delay=10s'] });
    const { connectionString } = server;
    const store = postgresStore({ connectionString });
    await store.open(
      { instance: instance('a'), logger: silentLogger, longestCallMs: 5_000, wakeUp: () => {} },
      callWithin(10_000),
    );
    const request = {
      instance: instance('a'),
      instanceTtlMs: 1_000,
      renew: [],
      observe: [],
      acquire: [{ role: 'r', leaseMs: 60_000, tokenFloor: 0n }],
    };
    await store.heartbeat(request, callWithin(5_000));
    await server.restart({ mode: 'immediate' });
    const client = new pg.Client({ connectionString });
    await client.connect();
    const { rows } = await client.query('select holder, fencing_token from leasehold.role_lease');
    await client.end();
    await store.close();
    expect(rows).toEqual([{ holder: 'a', fencing_token: '1' }]);
  });

  test.for(['repeatable read', 'serializable'])(
    '%s: candidates that compete for the same rows do not fail each other',
    async (isolation, { database }) => {
      const odd = await asUserWith(database, `$ default_transaction_isolation = '${isolation}'`);
      const roles = Array.from({ length: 300 }, (_, n) => ({ role: `role-${n}`, leaseMs: 60_000, tokenFloor: 0n }));
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      const stores = await Promise.all(ids.map((id) => openStore(odd, id)));
      for (let round = 0; round < 5; round += 1) {
        const beats = stores.map((store, n) => {
          const request = { instance: instance(ids[n] ?? ''), instanceTtlMs: 60_000, renew: [], acquire: roles, observe: [] };
          return store.heartbeat(request, callWithin(10_000));
        });
        const acquired = (await Promise.all(beats))
          .flatMap((reply) => reply.roles)
          .filter(({ outcome }) => outcome === 'acquired');
        expect(new Set(acquired.map(({ role }) => role)).size).toBe(acquired.length);
        await database.query(`update ${database.schema}.role_lease set expires_at = clock_timestamp()`);
      }
    },
  );

  test('idle_session_timeout shorter than the interval: the connection stays', async ({ database }) => {
    const odd = await asUserWith(database, `$ idle_session_timeout = '100ms'`);
    const leasehold = instanceOn(
      { ...odd, connectionString: `${odd.connectionString}?application_name=${database.schema}` },
      { leaseDuration: '3s' },
    );
    leasehold.role('r');
    await leasehold.start();
    const pids = async (): Promise<unknown[]> =>
      database.query('select pid from pg_stat_activity where application_name = $1', [database.schema]);
    const before = await pids();
    await expect
      .poll(
        async () =>
          Number(
            (
              await database.query(`select extract(epoch from expires_at - acquired_at) as s from ${database.schema}.role_lease`)
            )[0]?.['s'],
          ),
        { timeout: 5_000 },
      )
      .toBeGreaterThan(3.5);
    expect(await pids()).toEqual(before);
  });

  test('a search_path that leads elsewhere, a DateStyle and an interval style of its own', async ({ database }) => {
    const odd = await asUserWith(
      database,
      `$ search_path = 'pg_catalog'; $ datestyle = 'German, DMY'; $ intervalstyle = 'sql_standard'; $ extra_float_digits = -15`,
    );
    const [a, b] = [instanceOn(odd, { leaseDuration: '60s' }), instanceOn(odd, { leaseDuration: '60s' })];
    const [held, seen] = [a.role('r'), b.role('r')];
    await a.start();
    await b.start();
    expect(held.isHeld).toBe(true);
    expect(seen.holderRemainingMs).toBeGreaterThan(55_000);
    expect(seen.holderRemainingMs).toBeLessThanOrEqual(60_000);
  });
});
