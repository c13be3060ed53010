import { getRoleLeaseToken, installRoleHolderProxy, LeaseholdModule, type LeaseholdModuleOptions } from '@leasehold/nestjs';
import type { RoleLease } from '@leasehold/core';
import type { INestApplication } from '@nestjs/common';
import { describe, expect } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { createApp, knowsHolder, leaseOf, type Platform, platforms } from './support/apps.ts';
import { WhoController } from './support/controllers.ts';
import { openStream } from '../../../test/support/raw.ts';

const LEASE_MS = 3_000;

type Connect = (database: TestDatabase) => LeaseholdModuleOptions;

const byString: Connect = ({ connectionString }) => ({ connectionString });
const byPool: Connect = ({ pool }) => ({ pool });

interface StartOptions {
  readonly database: TestDatabase;
  readonly label: string;
  readonly connect?: Connect;
}

async function startApplication(
  platform: Platform,
  { database, label, connect = byString }: StartOptions,
): Promise<INestApplication> {
  const settings = { ...connect(database), schema: database.schema, instance: { label }, leaseDuration: LEASE_MS };
  const forRoot = LeaseholdModule.forRootAsync({ useFactory: async () => settings, roles: ['maintenance'] });
  const app = await createApp(platform, { imports: [forRoot], controllers: [WhoController] });
  installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'] });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function startPair(
  platform: Platform,
  database: TestDatabase,
): Promise<{ holder: INestApplication; other: INestApplication }> {
  const holder = await startApplication(platform, { database, label: 'holder' });
  const other = await startApplication(platform, { database, label: 'other' });
  await knowsHolder(other, holder);
  return { holder, other };
}

async function whoAnswers(app: INestApplication): Promise<unknown> {
  return (await fetch(`${await app.getUrl()}/maintenance/who`)).json();
}

describe.each(platforms)('on %s', (platform) => {
  test('any instance accepts the request and the holder answers it', async ({ database }) => {
    const { holder, other } = await startPair(platform, database);
    expect(await whoAnswers(holder)).toEqual({ by: 'holder' });
    expect(await whoAnswers(other)).toEqual({ by: 'holder' });
    const stream = await openStream(`${await other.getUrl()}/maintenance/events`);
    await expect.poll(() => stream.text()).toContain('data: holder');
  });

  test('a graceful close hands the role over long before the lease would run out', async ({ database }) => {
    const { holder, other } = await startPair(platform, database);
    const token = leaseOf(holder).fencingToken ?? 0n;
    const closing = holder.close();
    await expect.poll(() => leaseOf(other).isHeld, { interval: 5, timeout: LEASE_MS / 2 }).toBe(true);
    await closing;
    expect(leaseOf(other).fencingToken).toBe(token + 1n);
    expect(await whoAnswers(other)).toEqual({ by: 'other' });
    const [term] = await database.query(`select ended_by from ${database.schema}.role_term order by fencing_token`);
    expect(term).toEqual({ ended_by: 'released' });
  });
});

test('a pool of the application is used, and left to it', async ({ database }) => {
  const app = await startApplication('express', { database, label: 'pooled', connect: byPool });
  expect(app.get<RoleLease>(getRoleLeaseToken('maintenance'), { strict: false }).isHeld).toBe(true);
  await app.close();
  expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
});
