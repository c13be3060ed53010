import { createLeasehold, type LeaseholdOptions } from '@leasehold/core';
import { describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../../testing/src/manual-clock.ts';
import { ScriptedStore } from '../support/scripted-store.ts';

/** Slack of the short role: window 2.6 s less interval 1 s. */
const SHORT = { leaseDuration: '3s' } as const;

function instanceWith(options: LeaseholdOptions): {
  clock: ManualClock;
  store: ScriptedStore;
  leasehold: ReturnType<typeof createLeasehold>;
} {
  const clock = manualClock();
  const store = new ScriptedStore();
  return { clock, store, leasehold: createLeasehold({ store, clock, random: () => 0, startup: 'background', ...options }) };
}

describe('a role with a shorter lease than the others', () => {
  it('survives one renewal that hangs', async () => {
    const { clock, store, leasehold } = instanceWith({});
    const lease = leasehold.role('short', SHORT);
    await leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await clock.advance(1_000);
    expect([store.heartbeats.length, store.pending.call.timeoutMs]).toEqual([2, 800]);
    await clock.advance(900);
    expect(store.heartbeats).toHaveLength(3);
    store.grant(1n);
    await clock.advance(0);
    expect([lease.state, lease.fencingToken]).toEqual(['held', 1n]);
  });

  it('survives a call for another role that hangs', async () => {
    const { clock, store, leasehold } = instanceWith({ leaseDuration: '60s' });
    const lease = leasehold.role('short', SHORT);
    await leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await clock.advance(500);
    leasehold.role('late');
    await clock.advance(10);
    expect([store.pending.request.renew, store.pending.call.timeoutMs]).toEqual([[], 800]);
    await clock.advance(900);
    expect(store.pending.request.renew).toEqual([{ role: 'short', fencingToken: 1n }]);
    store.grant(1n);
    await clock.advance(0);
    expect([lease.state, lease.fencingToken]).toEqual(['held', 1n]);
  });

  it('does not shorten calls when it is not held', async () => {
    const { clock, store, leasehold } = instanceWith({});
    leasehold.role('short', SHORT);
    await leasehold.start();
    await clock.advance(0);
    expect(store.pending.call.timeoutMs).toBe(4_000);
  });
});

it('a timing that leaves a renewal less than 50 ms for its answer is refused', () => {
  const { leasehold } = instanceWith({});
  const timing = { leaseDuration: 500, renewInterval: 300 } as const;
  expect(() => leasehold.role('tight', { ...timing, safetyMargin: 151 })).toThrow(
    expect.objectContaining({ code: 'LEASEHOLD_INVALID_TIMING', message: expect.stringContaining('50 ms over 451 ms') }),
  );
  expect(leasehold.role('fits', { ...timing, safetyMargin: 150 }).leaseDurationMs).toBe(500);
});
