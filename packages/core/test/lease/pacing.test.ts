import { createLeasehold } from '@leasehold/core';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { heldLease, scriptedLease } from '../support/scripted-lease.ts';
import { reportHeld, ScriptedStore } from '../support/scripted-store.ts';

describe('regular heartbeats', () => {
  it('come up to a tenth early, so that a fleet started together does not beat together', async () => {
    const { clock, store } = await heldLease({ random: () => 0.9 });
    await clock.advance(4_549);
    expect(store.heartbeats).toHaveLength(1);
    await clock.advance(1);
    expect(store.heartbeats).toHaveLength(2);
  });

  it('take along the roles of another interval that are due a little later', async () => {
    const clock = manualClock();
    const store = new ScriptedStore();
    const leasehold = createLeasehold({ store, clock, random: () => 0, startup: 'background' });
    leasehold.role('five');
    leasehold.role('five-and-a-bit', { renewInterval: '5.4s' });
    leasehold.role('seven', { renewInterval: '7s' });
    await leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await clock.advance(5_000);
    expect(store.pending.request.renew.map(({ role }) => role)).toEqual(['five', 'five-and-a-bit']);
  });
});

describe('a holder that was seen', () => {
  it('ages from before the heartbeat was sent, however late the reply', async () => {
    const { clock, store, lease, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    await clock.advance(3_000);
    store.pending.answer({ roles: [reportHeld('r', 1n, 10_000)] });
    await clock.advance(0);
    expect([lease.currentHolder, lease.holderRemainingMs]).toEqual(['other-1', 7_000]);
    clock.jump(7_000);
    expect([lease.currentHolder, lease.holderRemainingMs]).toEqual([null, 0]);
  });
});
