import { createLeasehold, LeaseholdError } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../testing/src/manual-clock.ts';
import { heldLease, scriptedLease } from './support/scripted-lease.ts';
import { ScriptedStore } from './support/scripted-store.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

describe('start', () => {
  it('refuses a second start, and one after stop', async () => {
    const { leasehold, store, clock } = await heldLease();
    await expect(leasehold.start()).rejects.toEqual(code('LEASEHOLD_ALREADY_STARTED'));
    store.releaseOutcome = 'released';
    const stopped = leasehold.stop();
    await expect(leasehold.start()).rejects.toEqual(code('LEASEHOLD_STOPPED'));
    await Promise.all([stopped, clock.advance(0)]);
    await expect(leasehold.start()).rejects.toEqual(code('LEASEHOLD_STOPPED'));
  });

  it('waits for the store by default, electing nobody meanwhile', async () => {
    const { leasehold, store, clock, lease } = scriptedLease({ startup: 'wait' });
    store.openError = new Error('ECONNREFUSED');
    let started = false;
    const start = leasehold.start().then(() => (started = true));
    await clock.advance(60_000);
    expect([started, lease.isHeld, store.heartbeats.length]).toEqual([false, false, 0]);
    expect(store.opens).toBeGreaterThan(10);
    store.openError = null;
    await clock.advance(2_500);
    store.pending.fail(new Error('still starting up'));
    await clock.advance(2_500);
    expect(started).toBe(false);
    store.grant(1n);
    await Promise.all([start, clock.advance(0)]);
    expect(lease.isHeld).toBe(true);
  });

  it('fails by option, elects nobody, and can be tried again', async () => {
    const { leasehold, store, clock, lease } = scriptedLease({ startup: 'fail' });
    store.openError = new Error('ECONNREFUSED');
    await expect(Promise.all([leasehold.start(), clock.advance(0)])).rejects.toThrow('ECONNREFUSED');
    expect([store.closed, lease.isHeld]).toEqual([true, false]);
    await clock.advance(60_000);
    expect(store.opens).toBe(1);
    store.openError = null;
    const start = leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await Promise.all([start, clock.advance(0)]);
    expect(lease.isHeld).toBe(true);
  });

  it('rejects at once what waiting does not mend', async () => {
    const { leasehold, store, clock } = scriptedLease({ startup: 'wait' });
    store.openError = new LeaseholdError('LEASEHOLD_SCHEMA_MISSING', 'no tables');
    await expect(Promise.all([leasehold.start(), clock.advance(0)])).rejects.toEqual(code('LEASEHOLD_SCHEMA_MISSING'));
    await clock.advance(60_000);
    expect(store.opens).toBe(1);
  });

  it('ends when stop is called while it waits', async () => {
    const { leasehold, store, clock } = scriptedLease({ startup: 'wait' });
    store.openError = new Error('ECONNREFUSED');
    const refused = expect(leasehold.start()).rejects.toEqual(code('LEASEHOLD_STOPPED'));
    await clock.advance(1_000);
    const stopped = leasehold.stop();
    await clock.advance(5_000);
    await refused;
    await Promise.all([stopped, clock.advance(5_000)]);
    expect(store.closed).toBe(true);
  });

  it('beats without any role, and takes roles registered later at once', async () => {
    const clock = manualClock();
    const store = new ScriptedStore();
    const leasehold = createLeasehold({ store, clock, random: () => 0, startup: 'background' });
    await leasehold.start();
    await clock.advance(0);
    expect(store.pending.request).toMatchObject({ renew: [], acquire: [], observe: [] });
    store.grant(0n);
    await clock.advance(1_000);
    leasehold.role('late');
    await clock.advance(10);
    expect(store.pending.request.acquire).toMatchObject([{ role: 'late' }]);
  });
});

describe('stop', () => {
  it('refuses to stop what was not started, while dispose does not mind', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    await expect(leasehold.stop()).rejects.toEqual(code('LEASEHOLD_NOT_STARTED'));
    await leasehold[Symbol.asyncDispose]();
  });

  it('answers a second call with the first, and refuses new roles and repeats', async () => {
    const { leasehold, lease, store, clock } = await heldLease();
    const first = leasehold.stop();
    expect(leasehold.stop()).toBe(first);
    expect(() => leasehold.role('x')).toThrow(LeaseholdError);
    expect(() => lease.every('1s', () => {})).toThrow(expect.objectContaining({ code: 'LEASEHOLD_STOPPED' }));
    store.releaseOutcome = 'released';
    await clock.advance(0);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await Promise.all([first, clock.advance(0)]);
    expect(leasehold.leases.has('x')).toBe(false);
    const sent = store.heartbeats.length;
    await clock.advance(60_000);
    expect(store.heartbeats).toHaveLength(sent);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('heartbeats', () => {
  it('have one in flight, however slow the store', async () => {
    const { store, clock } = await heldLease({ callTimeout: '1m' });
    await clock.advance(5_000);
    const sent = store.heartbeats.length;
    await clock.advance(7_900);
    store.context?.wakeUp('all');
    await clock.advance(50);
    expect(store.heartbeats).toHaveLength(sent);
  });

  it('ask once for all roles of one interval, and apart for those of another', async () => {
    const { store, clock, leasehold } = await heldLease();
    for (let n = 0; n < 15; n += 1) leasehold.role(`r${n}`);
    leasehold.role('slow', { leaseDuration: '60s' });
    await clock.advance(10);
    store.grant(1n);
    const before = store.heartbeats.length;
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000);
      if (store.heartbeats.length > before) store.grant(1n);
    }
    const sizes = store.heartbeats.slice(before).map(({ request }) => request.renew.length);
    expect(sizes.filter((size) => size >= 16)).toHaveLength(4);
    expect(sizes.length).toBeLessThanOrEqual(5);
  });

  it('ask at once when another instance lets go, a storm of hints causing no more than one in 100 ms', async () => {
    const { store, clock, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    const heldByOther = {
      role: 'r',
      outcome: 'held' as const,
      holder: 'x',
      holderAddress: null,
      fencingToken: 1n,
      remainingMs: 14_000,
    };
    store.pending.answer({ roles: [heldByOther] });
    await clock.advance(1_000);
    const before = store.heartbeats.length;
    for (let hint = 0; hint < 1_000; hint += 1) {
      store.context?.wakeUp(hint % 2 === 0 ? ['r'] : 'all');
      await clock.advance(1);
      if (store.heartbeats.length > before) store.pending.answer({ roles: [heldByOther] });
    }
    const caused = store.heartbeats.length - before;
    expect(caused).toBeGreaterThanOrEqual(9);
    expect(caused).toBeLessThanOrEqual(11);
  });

  it('pay no heed to hints about roles that are held or unknown', async () => {
    const { store, clock } = await heldLease();
    const before = store.heartbeats.length;
    store.context?.wakeUp(['r', 'unknown']);
    await clock.advance(4_000);
    expect(store.heartbeats).toHaveLength(before);
  });

  it('are sent when the lease seen in other hands runs out, not a whole interval later', async () => {
    const { store, clock, leasehold, lease } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    store.pending.answer({
      roles: [{ role: 'r', outcome: 'held', holder: 'x', holderAddress: 'http://x', fencingToken: 1n, remainingMs: 1_000 }],
    });
    await clock.advance(999);
    expect([store.heartbeats.length, lease.currentHolder, lease.currentHolderAddress]).toEqual([1, 'x', 'http://x']);
    await clock.advance(11);
    expect([store.heartbeats.length, lease.currentHolder, lease.currentHolderAddress, lease.holderRemainingMs]).toEqual([
      2,
      null,
      null,
      0,
    ]);
  });

  it('come again within 250 ms for a row that is free and locked', async () => {
    const { store, clock, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    store.pending.answer({
      roles: [{ role: 'r', outcome: 'busy', holder: 'x', holderAddress: null, fencingToken: 1n, remainingMs: 0 }],
    });
    await clock.advance(250);
    expect(store.heartbeats).toHaveLength(2);
  });

  it('carry a new address at once, to roles held too', async () => {
    const { store, clock, leasehold, lease } = await heldLease();
    leasehold.advertise('http://10.0.0.9:8080/');
    await clock.advance(10);
    expect(store.pending.request).toMatchObject({ instance: { address: 'http://10.0.0.9:8080' }, renew: [{ role: 'r' }] });
    expect(lease.currentHolderAddress).toBe('http://10.0.0.9:8080');
    const sent = store.heartbeats.length;
    store.grant(1n);
    leasehold.advertise('http://10.0.0.9:8080');
    await clock.advance(1_000);
    expect(store.heartbeats).toHaveLength(sent);
  });
});
