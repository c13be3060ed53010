import {
  createLeasehold,
  type Duration,
  type Leasehold,
  type LeaseholdErrorCode,
  type LeaseState,
  type RoleLease,
  type StepDownOutcome,
  type Term,
} from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { postgresStore, withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { describe, expectTypeOf, test } from 'vitest';

declare const lease: RoleLease;

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
