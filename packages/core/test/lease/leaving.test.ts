import { describe, expect, it } from 'vitest';
import { heldLease, scriptedLease } from '../support/scripted-lease.ts';
import { reportHeld } from '../support/scripted-store.ts';

describe('a term that is lost while its work drains', () => {
  it('is renewed no longer and not released: it is not ours to give back', async () => {
    const { clock, store, lease } = await heldLease();
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    const work = lease.whileHeld(() => finished);
    const outcome = lease.stepDown();
    await clock.advance(5_000);
    expect(store.pending.request.renew).toEqual([{ role: 'r', fencingToken: 1n }]);
    store.pending.answer({ roles: [reportHeld('r', 2n, 15_000)] });
    await clock.advance(2_000);
    finish();
    await Promise.all([work, clock.advance(0)]);
    expect([await outcome, store.releases]).toEqual(['not-held', []]);
    await clock.advance(3_000);
    expect(store.pending.request).toMatchObject({ renew: [], observe: ['r'] });
  });
});

describe('stop', () => {
  it('ends what repeats, between two cycles too, and leaves no timer', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    store.releaseOutcome = 'released';
    let cycles = 0;
    lease.every('1h', () => void (cycles += 1));
    await clock.advance(1_000);
    await Promise.all([leasehold.stop(), clock.advance(0)]);
    expect([cycles, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('asks nothing of a store that never opened', async () => {
    const { clock, store, leasehold } = scriptedLease();
    store.openError = new Error('ECONNREFUSED');
    await leasehold.start();
    await clock.advance(1_000);
    await Promise.all([leasehold.stop(), clock.advance(5_000)]);
    expect([store.heartbeats, store.releases, store.closed]).toEqual([[], [], true]);
  });
});
