import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AcquireRequest, HeartbeatReply, HeartbeatRequest, LeaseStore, Membership } from '@leasehold/core';
import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { askHeartbeat } from '../../src/postgres/heartbeat-rows.ts';
import { heartbeatSql } from '../../src/postgres/sql/heartbeat.ts';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { callWithin, instance, instanceOn, openStore } from '../support/postgres-lease.ts';

const DECLARED: Membership = { sequence: 1, partitions: { devices: 16 }, weight: 1, excluded: {}, draining: false };

function requestOf(id: string, asks: Partial<HeartbeatRequest> = {}): HeartbeatRequest {
  return { instance: instance(id), instanceTtlMs: 60_000, renew: [], acquire: [], observe: [], membership: DECLARED, ...asks };
}

function beat(store: LeaseStore, id: string, asks: Partial<HeartbeatRequest> = {}): Promise<HeartbeatReply> {
  return store.heartbeat(requestOf(id, asks), callWithin(5_000));
}

const asMember = (role: string): AcquireRequest => ({ role, leaseMs: 60_000, tokenFloor: 0n, onlyAsMember: true });
const outcomes = ({ roles }: HeartbeatReply): Record<string, string> =>
  Object.fromEntries(roles.map(({ role, outcome }) => [role, outcome]));
const told = ({ members = [] }: HeartbeatReply): Record<string, boolean> =>
  Object.fromEntries(members.map(({ id, live }) => [id, live]));

async function lockInstances({ pool, schema }: TestDatabase): Promise<() => Promise<unknown>> {
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  await client.query(`begin; select from ${schema}.instance for update`);
  return () => client.query('rollback');
}

describe('members', () => {
  test('are told of until half a minute after their time', async ({ database }) => {
    const [a, b] = [await openStore(database, 'a'), await openStore(database, 'b')];
    await beat(a, 'a');
    const age = (seconds: number): Promise<unknown> =>
      database.query(
        `update ${database.schema}.instance set expires_at = clock_timestamp() - $1 * interval '1 second' where id = 'a'`,
        [seconds],
      );
    expect(told(await beat(b, 'b'))).toEqual({ a: true });
    await age(1);
    expect(told(await beat(b, 'b'))).toEqual({ a: false, b: true });
    await age(25);
    expect(told(await beat(b, 'b'))).toEqual({ a: false, b: true });
    await age(31);
    expect(told(await beat(b, 'b'))).toEqual({ b: true });
  });

  test('take and renew the roles of partitions only together with their row', async ({ database }) => {
    const store = await openStore(database, 'a');
    await beat(store, 'a');
    const acquire = [asMember('held'), { ...asMember('plain'), onlyAsMember: false }];
    expect(outcomes(await beat(store, 'a', { acquire }))).toEqual({ held: 'acquired', plain: 'acquired' });
    await database.query(`insert into ${database.schema}.role_lease (role) values ('free'), ('free for all')`);
    const unlock = await lockInstances(database);
    const asks = {
      renew: [
        { role: 'held', fencingToken: 1n, onlyAsMember: true },
        { role: 'plain', fencingToken: 1n },
      ],
      acquire: [asMember('free'), { ...asMember('free for all'), onlyAsMember: false }],
    };
    const before = await database.query(`select expires_at from ${database.schema}.role_lease where role = 'held'`);
    expect(outcomes(await beat(store, 'a', asks))).toEqual({
      held: 'busy',
      plain: 'renewed',
      free: 'busy',
      'free for all': 'acquired',
    });
    expect(await database.query(`select expires_at from ${database.schema}.role_lease where role = 'held'`)).toEqual(before);
    await unlock();
    expect(outcomes(await beat(store, 'a', { ...asks, acquire: [asMember('free')] }))).toEqual({
      held: 'renewed',
      plain: 'renewed',
      free: 'acquired',
    });
  });

  test('whose new row nobody had is not taken by the same heartbeat that declares', async ({ database }) => {
    const store = await openStore(database, 'a');
    const first = await beat(store, 'a', { acquire: [asMember('new')] });
    expect(first.roles).toMatchObject([{ role: 'new', holder: null }]);
    expect(told(first)).toEqual({});
    expect(await database.query(`select role, holder from ${database.schema}.role_lease`)).toEqual([
      { role: 'new', holder: null },
    ]);
    expect(outcomes(await beat(store, 'a', { acquire: [asMember('new'), asMember('newer')] }))).toEqual({
      new: 'acquired',
      newer: 'acquired',
    });
  });
});

describe('two instances with different counts', () => {
  test('never take part together, and the second does when the first has stopped', async ({ database }) => {
    const [first, second] = [instanceOn(database), instanceOn(database, { startup: 'background', leaseDuration: '1s' })];
    const devices = first.partition('devices', { count: 4 });
    await first.start();
    await expect.poll(() => [...devices].every(({ isHeld }) => isHeld)).toBe(true);
    const third = instanceOn(database);
    third.partition('devices', { count: 8 });
    await expect(third.start()).rejects.toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT' });
    expect(await database.query(`select id from ${database.schema}.instance where id = $1`, [third.instance.id])).toEqual([]);
    const others = second.partition('devices', { count: 8, balance: 'fair' });
    await second.start();
    await expect.poll(() => others.partitions[0]?.currentHolder).toBe(first.instance.id);
    expect([...others].some(({ isHeld }) => isHeld)).toBe(false);
    await first.stop();
    await expect.poll(() => [...others].every(({ isHeld }) => isHeld), { timeout: 10_000 }).toBe(true);
  });

  test('a row of the instance that a hand deleted ends its terms, and it takes part anew', async ({ database }) => {
    const leasehold = instanceOn(database, { leaseDuration: '1500ms' });
    const devices = leasehold.partition('devices', { count: 4, balance: 'fair' });
    await leasehold.start();
    const areHeld = (): boolean => [...devices].every(({ isHeld }) => isHeld);
    await expect.poll(areHeld).toBe(true);
    expect([...devices].map(({ fencingToken }) => fencingToken)).toEqual([1n, 1n, 1n, 1n]);
    await database.query(`delete from ${database.schema}.instance`);
    const newTerms = (): boolean => [...devices].every(({ fencingToken }) => (fencingToken ?? 0n) > 1n);
    await expect.poll(newTerms, { timeout: 20_000 }).toBe(true);
    expect(areHeld()).toBe(true);
  });

  test('two that agree share evenly', async ({ database }) => {
    const fleet = [instanceOn(database, { leaseDuration: '1s' }), instanceOn(database, { leaseDuration: '1s' })];
    const partitions = fleet.map((leasehold) => leasehold.partition('devices', { count: 16, balance: 'fair' }));
    await Promise.all(fleet.map((leasehold) => leasehold.start()));
    const held = (): number[] => partitions.map((each) => [...each].filter(({ isHeld }) => isHeld).length);
    await expect.poll(held, { timeout: 20_000 }).toEqual([8, 8]);
    await fleet[0]?.stop();
    await expect.poll(held, { timeout: 10_000 }).toEqual([0, 16]);
  });
});

test('what an instance gives back when it stops is taken long before the next heartbeat', async ({ database }) => {
  const fleet = [instanceOn(database, { leaseDuration: '60s' }), instanceOn(database, { leaseDuration: '60s' })];
  const options = { count: 16, balance: 'fair' } as const;
  const [first, second] = fleet.map((leasehold) => leasehold.partition('devices', options));
  await fleet[0]?.start();
  await fleet[1]?.start();
  const held = (each: Iterable<{ readonly isHeld: boolean }> = []): number => [...each].filter(({ isHeld }) => isHeld).length;
  expect([held(first), held(second)]).toEqual([16, 0]);
  await fleet[0]?.stop();
  await expect.poll(() => held(second), { timeout: 5_000 }).toBe(16);
});

describe('16 partitions of 256 roles', () => {
  test('cost one statement for each heartbeat', { timeout: 60_000 }, async ({ database }) => {
    const leasehold = instanceOn(database, { leaseDuration: '6s', renewInterval: '1s' });
    for (let n = 0; n < 16; n += 1) leasehold.partition(`p${n}`, { count: 256, balance: 'fair' });
    await leasehold.start();
    await expect.poll(() => leasehold.leases.heldRoles().length, { timeout: 30_000 }).toBe(4_096);
    const renewed: number[] = [];
    const onBeat = (message: unknown): void => {
      const { instance: id, renewed: count } = message as { instance: string; renewed: number };
      if (id === leasehold.instance.id) renewed.push(count);
    };
    const { prototype } = pg.Client;
    const original = Object.getOwnPropertyDescriptor(prototype, 'query') as PropertyDescriptor;
    let statements = 0;
    const counted = function counted(this: pg.Client, ...args: unknown[]): unknown {
      statements += 1;
      return Reflect.apply(original.value, this, args);
    };
    subscribe('leasehold:heartbeat', onBeat);
    Object.defineProperty(prototype, 'query', { ...original, value: counted });
    onTestFinished(() => {
      unsubscribe('leasehold:heartbeat', onBeat);
      Object.defineProperty(prototype, 'query', original);
    });
    await expect.poll(() => renewed.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
    // One may be on its way.
    expect(statements - renewed.length).toBeLessThanOrEqual(1);
    expect(statements).toBeGreaterThanOrEqual(renewed.length);
    expect(renewed.every((count) => count === 4_096)).toBe(true);
  });

  test('are renewed with work that grows in line', async ({ database }) => {
    const store = await openStore(database, 'a');
    const roles = Array.from({ length: 4_096 }, (_, n) => `p${n % 16}:partition-${n >> 4}`);
    await beat(store, 'a');
    await beat(store, 'a', { acquire: roles.map(asMember) });
    // As autovacuum does before long: without statistics, some versions look up the rows one by one.
    await database.query(`analyze ${database.schema}.role_lease, ${database.schema}.instance`);
    const renew = roles.map((role) => ({ role, fencingToken: 1n, onlyAsMember: true }));
    const values = askHeartbeat(requestOf('a', { renew }), { channel: 'c', keepTermsMs: 1_000 });
    const text = `explain (analyze, format json) ${heartbeatSql(database.schema)}`;
    const [row] = await database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(text, values);
    const nodes = flatten(row?.['QUERY PLAN'][0]?.Plan);
    const handled = nodes.map((node) => node['Actual Rows'] * node['Actual Loops']);
    // A nested loop over the roles would show as a node that handled millions of rows.
    expect(Math.max(...handled)).toBeLessThanOrEqual(3 * 4_096);
    expect(nodes.some((node) => node['Node Type'] === 'Nested Loop' && node['Actual Rows'] > 1)).toBe(false);
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

function flatten(node: PlanNode | undefined): PlanNode[] {
  return node === undefined ? [] : [node, ...(node.Plans ?? []).flatMap(flatten)];
}
