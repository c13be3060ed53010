import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@leasehold/core';
import { grantsSql, migrationSql } from '@leasehold/core/postgres';
import { describe, expect, onTestFinished } from 'vitest';
import { migrate } from '../../src/postgres/migrate.ts';
import { migrations } from '../../src/postgres/migrations.generated.ts';
import { generateMigrations } from '../../../../scripts/generate-migrations.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore, storeOn } from '../support/postgres-lease.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

function open(database: TestDatabase, options: Parameters<typeof storeOn>[1]): Promise<void> {
  const store = storeOn(database, options);
  onTestFinished(() => store.close());
  return store.open(
    { instance: instance('a'), logger: silentLogger, longestCallMs: 5_000, wakeUp: () => {} },
    callWithin(10_000),
  );
}

/** What the catalog says of a schema, without its name. */
async function catalog({ query, schema }: TestDatabase, of: string = schema): Promise<unknown> {
  const columns = await query(
    `select table_name as table, column_name as column, data_type as type, is_nullable as nullable, column_default as default
     from information_schema.columns where table_schema = $1 order by table_name, ordinal_position`,
    [of],
  );
  const constraints = await query(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where connamespace = $1::regnamespace and contype <> 'n' order by 1, 2`,
    [of],
  );
  const indexes = await query(
    `select tablename as table, indexdef as definition from pg_indexes where schemaname = $1 order by 1, 2`,
    [of],
  );
  const storage = await query(
    `select relname as table, array_to_string(reloptions, ',') as options from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by 1`,
    [of],
  );
  return JSON.parse(JSON.stringify({ columns, constraints, indexes, storage }).replaceAll(`${of}.`, ''));
}

describe('migrate: auto', () => {
  test('builds the schema of the committed manifest', async ({ database }) => {
    await open(database, {});
    await expect(`${JSON.stringify(await catalog(database), null, 2)}\n`).toMatchFileSnapshot(
      '../../src/postgres/migrations/catalog.json',
    );
  });

  test('does so once when ten instances start together', async ({ database }) => {
    await Promise.all(Array.from({ length: 10 }, () => open(database, {})));
    expect(await database.query(`select version, name from ${database.schema}.migration order by version`)).toEqual([
      { version: 1, name: 'initial' },
      { version: 2, name: 'membership' },
    ]);
  });

  test('takes any schema name, quoted', async ({ database }) => {
    const odd = `${database.schema.slice(0, 40)} "quoted"; Ünï`;
    onTestFinished(() => void database.query(`drop schema if exists "${odd.replaceAll('"', '""')}" cascade`).catch(() => {}));
    const leasehold = instanceOn({ ...database, schema: odd });
    const lease = leasehold.role('r');
    await leasehold.start();
    expect(lease.isHeld).toBe(true);
    await leasehold.stop();
    await database.query(`drop schema "${odd.replaceAll('"', '""')}" cascade`);
  });

  test('brings the first version up to date under instances that run on it', async ({ database }) => {
    const { schema, query } = database;
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    await migrate(client, { schema, mode: 'auto', steps: migrations.slice(0, 1) });
    await query(
      `insert into ${schema}.instance (id, label, expires_at) values ('old', 'old', clock_timestamp() + interval '1 hour')`,
    );
    await query(
      `insert into ${schema}.role_lease (role, holder, fencing_token, lease_ms, acquired_at, expires_at)
       values ('devices:partition-1', 'old', 7, 3600000, clock_timestamp(), clock_timestamp() + interval '1 hour')`,
    );
    const leasehold = instanceOn(database);
    const devices = leasehold.partition('devices', { count: 3, balance: 'fair' });
    await leasehold.start();
    // What ran before has no part in the balance, and keeps what it holds.
    await expect.poll(() => leasehold.leases.heldRoles()).toEqual(['devices:partition-0', 'devices:partition-2']);
    expect(devices.partitions[1]?.currentHolder).toBe('old');
    // Its heartbeats, which know of no memberships, go on.
    await query(
      `insert into ${schema}.instance (id, label, address, expires_at) values ('older', 'older', null, clock_timestamp())`,
    );
    expect(await query(`select id, membership from ${schema}.instance where membership is null order by id`)).toEqual([
      { id: 'old', membership: null },
      { id: 'older', membership: null },
    ]);
  });

  test('touches nothing when it fails half-way', async ({ database }) => {
    await database.query(`create schema ${database.schema}; create table ${database.schema}.role_term (mine int)`);
    await expect(open(database, {})).rejects.toEqual(code('LEASEHOLD_STORE_UNAVAILABLE'));
    const tables = await database.query('select tablename from pg_tables where schemaname = $1', [database.schema]);
    expect(tables).toEqual([{ tablename: 'role_term' }]);
  });
});

describe('migrate: never', () => {
  test('refuses a missing schema, naming the fix, and start does not wait for it', async ({ database }) => {
    const leasehold = instanceOn(database, { postgres: { migrate: 'never' } });
    const error = await leasehold.start().catch((caught: unknown) => caught);
    expect(error).toEqual(code('LEASEHOLD_SCHEMA_MISSING'));
    expect((error as Error).message).toContain(`migrationSql('${database.schema}')`);
    expect((error as Error).message).toContain("migrate: 'auto'");
  });

  test('refuses an older schema, which auto brings up to date', async ({ database }) => {
    const { schema } = database;
    const client = await database.pool.connect();
    onTestFinished(() => client.release(true));
    const [current, latest] = [migrations.length, migrations.length + 1];
    const next = { version: latest, name: 'next', sql: 'alter table {schema}.instance add column region text;' };
    const steps = [...migrations, next];
    await migrate(client, { schema, mode: 'auto' });
    const error = await migrate(client, { schema, mode: 'never', steps }).catch((caught: unknown) => caught);
    expect(error).toEqual(code('LEASEHOLD_SCHEMA_OUTDATED'));
    expect((error as Error).message).toContain(`is at version ${current}, this library needs ${latest}`);
    expect((error as Error).message).toMatch(new RegExp(`migrationSql\\('.*', ${current}\\)`));
    const broken = [...migrations, { ...next, sql: `${next.sql} select 1/0;` }];
    await expect(migrate(client, { schema, mode: 'auto', steps: broken })).rejects.toThrow('division by zero');
    const versions = async (): Promise<unknown> => database.query(`select max(version) as version from ${schema}.migration`);
    expect(await versions()).toEqual([{ version: current }]);
    await migrate(client, { schema, mode: 'auto', steps });
    expect(await database.query(`select region from ${schema}.instance`)).toEqual([]);
    expect(await versions()).toEqual([{ version: latest }]);
  });

  test.for(['auto', 'never'] as const)('a newer schema is refused with migrate: %s', async (migrate, { database }) => {
    await open(database, {});
    await database.query(`insert into ${database.schema}.migration (version, name) values (99, 'from the future')`);
    await expect(open(database, { migrate })).rejects.toEqual(code('LEASEHOLD_SCHEMA_NEWER'));
  });

  test('accepts what migrationSql prints, which equals what auto builds', async ({ database }) => {
    await database.query(migrationSql(database.schema));
    await open(database, { migrate: 'never' });
    const committed = JSON.parse(readFileSync(new URL('../../src/postgres/migrations/catalog.json', import.meta.url), 'utf8'));
    expect(await catalog(database)).toEqual(committed);
  });
});

describe('rights', () => {
  async function userWith(database: TestDatabase, grants: (user: string) => string): Promise<string> {
    const user = `lh_${randomBytes(5).toString('hex')}`;
    await database.query(`create role ${user} login password 'p'`);
    await database.query(grants(user));
    onTestFinished(async () => {
      await database.query(`drop owned by ${user}; drop role ${user}`);
    });
    const url = new URL(database.connectionString);
    url.username = user;
    url.password = 'p';
    return url.href;
  }

  test('those that grantsSql prints are enough for every statement', async ({ database }) => {
    await database.query(migrationSql(database.schema));
    const connectionString = await userWith(database, (user) => grantsSql(database.schema, user));
    const leasehold = instanceOn(database, { postgres: { connectionString, migrate: 'never' } });
    const lease = leasehold.role('r');
    const devices = leasehold.partition('devices', { count: 2, balance: 'fair' });
    await leasehold.start();
    await expect.poll(() => [...devices].every(({ isHeld }) => isHeld)).toBe(true);
    const store = await openStore(database, 'other', { connectionString, migrate: 'never' });
    const client = await database.pool.connect();
    await client.query(`begin; set local role ${new URL(connectionString).username}`);
    await lease.whileHeld((term) => term.fence(client));
    await client.query('rollback');
    client.release();
    await store.close();
    await leasehold.stop();
    expect(await database.query(`select distinct ended_by, count(*)::int from ${database.schema}.role_term group by 1`)).toEqual([
      { ended_by: 'released', count: 3 },
    ]);
  });

  test.for([
    ['none', () => ''],
    ['no update', (user: string) => grantsSql('$', user).replaceAll('insert, update on', 'insert on')],
    ['no history', (user: string) => grantsSql('$', user).replace('insert, update, delete', 'select')],
  ] as const)('too few (%s) are refused, naming the grants', async ([, grants], { database }) => {
    await database.query(migrationSql(database.schema));
    const connectionString = await userWith(database, (user) => grants(user).replaceAll('"$"', database.schema) || 'select 1');
    const leasehold = instanceOn(database, { postgres: { connectionString, migrate: 'never' } });
    const lease = leasehold.role('r');
    const error = await leasehold.start().catch((caught: unknown) => caught);
    expect(error).toEqual(code('LEASEHOLD_PERMISSION_DENIED'));
    expect((error as Error).message).toContain(`grantsSql('${database.schema}'`);
    expect(lease.isHeld).toBe(false);
  });

  test('a user who may not create a schema is told so', async ({ database }) => {
    const connectionString = await userWith(database, () => 'select 1');
    await expect(open(database, { connectionString })).rejects.toEqual(code('LEASEHOLD_PERMISSION_DENIED'));
  });
});

test('the generated module holds the migrations as they are', () => {
  const generated = readFileSync(new URL('../../src/postgres/migrations.generated.ts', import.meta.url), 'utf8');
  expect(generated).toBe(generateMigrations());
});

test('tables that vanish while running are named, and nothing is created again behind the back', async ({ database }) => {
  const store = await openStore(database, 'a');
  await database.query(`drop schema ${database.schema} cascade`);
  const request = { instance: instance('a'), instanceTtlMs: 1_000, renew: [], acquire: [], observe: [] };
  await expect(store.heartbeat(request, callWithin(2_000))).rejects.toEqual(code('LEASEHOLD_SCHEMA_MISSING'));
  expect(await database.query('select from pg_namespace where nspname = $1', [database.schema])).toEqual([]);
});
