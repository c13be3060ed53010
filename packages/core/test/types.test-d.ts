import {
  createLeasehold,
  type Duration,
  type Leasehold,
  type LeaseholdErrorCode,
  type LeaseState,
  type Member,
  type Membership,
  type PartitionLease,
  type RoleLease,
  type RolePartition,
  type StepDownOutcome,
  type Term,
} from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { postgresStore, withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { describe, expectTypeOf, test } from 'vitest';

declare const lease: RoleLease;
declare const leasehold: Leasehold;
declare const devices: RolePartition;

describe('durations', () => {
  test('are milliseconds or a number with a unit', () => {
    expectTypeOf<'15s'>().toExtend<Duration>();
    expectTypeOf<'1.5h'>().toExtend<Duration>();
    expectTypeOf<15_000>().toExtend<Duration>();
    expectTypeOf<'15 seconds'>().not.toExtend<Duration>();
    expectTypeOf<'15'>().not.toExtend<Duration>();
    // @ts-expect-error a duration without a known unit is none
    createLeasehold({ leaseDuration: '15sec' });
  });
});

describe('a lease', () => {
  test('tells its state without promises, and work its value', () => {
    expectTypeOf(lease.isHeld).toEqualTypeOf<boolean>();
    expectTypeOf(lease.state).toEqualTypeOf<LeaseState>();
    expectTypeOf(lease.fencingToken).toEqualTypeOf<bigint | null>();
    expectTypeOf(lease.stepDown({ standAside: 'until-told' })).resolves.toEqualTypeOf<StepDownOutcome>();
    expectTypeOf(lease.whileHeld(async () => 1)).resolves.toEqualTypeOf<
      { readonly ran: true; readonly value: number } | { readonly ran: false; readonly currentHolder: string | null }
    >();
    void lease.whileHeld((term) => expectTypeOf(term).toEqualTypeOf<Term>());
  });

  test('is read-only', () => {
    // @ts-expect-error nobody may claim to hold
    lease.isHeld = true;
  });
});

describe('a partition', () => {
  test('is registered with a count, and got by its name', () => {
    expectTypeOf(
      leasehold.partition('devices', { count: 16, balance: 'fair', leaseDuration: '15s' }),
    ).toEqualTypeOf<RolePartition>();
    expectTypeOf(leasehold.getPartition('devices')).toEqualTypeOf<RolePartition>();
    // @ts-expect-error without a count it is none
    leasehold.partition('devices', {});
    // @ts-expect-error there is no such balance
    leasehold.partition('devices', { count: 16, balance: 'even' });
    // @ts-expect-error the count is one for good
    leasehold.partition('devices', { count: 16 }).count = 8;
  });

  test('tells the lease of a key, with a scope and without', () => {
    expectTypeOf(devices.resolve('7')).toEqualTypeOf<PartitionLease>();
    expectTypeOf(devices.resolve('Order', '7')).toEqualTypeOf<PartitionLease>();
    expectTypeOf(devices.resolve('7').partition).toBeNumber();
    expectTypeOf<PartitionLease>().toExtend<RoleLease>();
    expectTypeOf(devices.isHeld('Order', '7')).toBeBoolean();
    for (const each of devices) expectTypeOf(each).toEqualTypeOf<PartitionLease>();
    // @ts-expect-error a key is a string
    devices.resolve(7);
    const order: { readonly id?: string } = {};
    // @ts-expect-error a key that may be missing is none
    devices.resolve('Order', order.id);
  });

  test('runs work under the role of a key', () => {
    type Result = { readonly ran: true; readonly value: number } | { readonly ran: false; readonly currentHolder: string | null };
    expectTypeOf(devices.whileHeld('7', async (term) => Number(term.fencingToken))).resolves.toEqualTypeOf<Result>();
    expectTypeOf(devices.whileHeld('Order', '7', () => 1)).resolves.toEqualTypeOf<Result>();
    // @ts-expect-error there is nothing to run
    void devices.whileHeld('Order', '7');
  });

  test('of an instance has a weight, and roles that it may hold', () => {
    createLeasehold({ instance: { weight: 2 }, canHold: (role) => role.startsWith('devices:') });
    // @ts-expect-error an answer that is to be waited for is none
    createLeasehold({ canHold: async () => true });
    expectTypeOf<Member>().toExtend<Membership>();
  });
});

describe('stores and fences', () => {
  test('fit together', () => {
    const leasehold = createLeasehold({ store: postgresStore({ pool: new pg.Pool() }), startup: 'fail' });
    expectTypeOf(leasehold).toExtend<Leasehold>();
    createLeasehold({ store: memoryStore() });
    // @ts-expect-error there is no such startup
    createLeasehold({ startup: 'never' });
    void lease.whileHeld((term) => expectTypeOf(withFence(new pg.Pool(), term, async () => 'x')).resolves.toBeString());
  });
});

test('error codes are a closed set', () => {
  expectTypeOf<'LEASEHOLD_FENCED'>().toExtend<LeaseholdErrorCode>();
  expectTypeOf<'LEASEHOLD_OTHER'>().not.toExtend<LeaseholdErrorCode>();
});
