/**
 * The ten timing rules, each by its number. See docs/concepts/time.md. Default timing: lease 15 s, renewal every 5 s,
 * margin 2 s, so a heartbeat is worth 13 s from its sending.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createLeasehold, isLeaseholdError, LeaseholdError, type Term } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { heldLease, scriptedLease } from '../support/scripted-lease.ts';
import { reportHeld, reportVacant } from '../support/scripted-store.ts';

describe('rule 1: belief counts from before the heartbeat was sent, and only "renewed" or "acquired" moves it', () => {
  it('anchors at the send, however late the reply', async () => {
    const { clock, store, lease, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    clock.jump(3_000);
    store.grant(1n);
    await clock.advance(0);
    expect(lease.isHeld).toBe(true);
    expect(lease.remainingMs).toBe(10_000);
    clock.jump(9_999);
    expect(lease.isHeld).toBe(true);
    clock.jump(1);
    expect(lease.isHeld).toBe(false);
  });

  it('gains nothing from a reply that took longer than its own window', async () => {
    const { clock, store, lease, leasehold, acquired, lost } = scriptedLease({ callTimeout: '1m' });
    await leasehold.start();
    await clock.advance(0);
    clock.jump(13_000);
    store.grant(1n);
    await clock.advance(0);
    expect(lease.isHeld).toBe(false);
    expect([acquired, lost]).toEqual([[], []]);
  });

  it.each(['error', 'busy', 'nothing said'])('does not move the deadline on: %s', async (kind) => {
    const { clock, store, lease } = await heldLease();
    await clock.advance(5_000);
    expect(store.pending.request.renew).toEqual([{ role: 'r', fencingToken: 1n }]);
    if (kind === 'error') store.pending.fail(new Error('ECONNRESET'));
    else if (kind === 'busy') store.pending.answer({ roles: [{ ...reportHeld('r', 1n, 10_000), outcome: 'busy' }] });
    else store.pending.answer({ roles: [] });
    await clock.advance(0);
    expect(lease.remainingMs).toBe(8_000);
    expect(lease.state).toBe('jeopardy');
  });

  it('does not revive belief that lapsed while the reply was on its way', async () => {
    const { clock, store, lease, lost } = await heldLease({ callTimeout: '1m' });
    await clock.advance(5_000);
    clock.jump(8_000);
    // Sent at 5 s, so worth until 18 s; but at 13 s the term was over, and somebody may have seen that.
    store.grant(1n);
    await clock.advance(0);
    expect(lease.isHeld).toBe(false);
    expect(lost.map(({ reason }) => reason)).toEqual(['LEASEHOLD_TERM_EXPIRED']);
  });
});

describe('rule 2: isHeld is computed at the call, on two clocks', () => {
  it('turns false at the deadline with no timer run', async () => {
    const { clock, lease } = await heldLease();
    clock.jump(12_999);
    expect(lease.isHeld).toBe(true);
    clock.jump(1);
    expect(lease.isHeld).toBe(false);
  });

  it('ends on the wall clock after a suspension, during which the monotonic clock stood still', async () => {
    const { clock, lease, lost } = await heldLease();
    clock.jumpWall(13_000);
    expect(lease.isHeld).toBe(false);
    expect(lost).toHaveLength(1);
  });

  it('is not prolonged by a wall clock that goes back', async () => {
    const { clock, lease } = await heldLease();
    clock.jumpWall(-3_600_000);
    expect(lease.isHeld).toBe(true);
    expect(lease.remainingMs).toBe(13_000);
    clock.jump(13_000);
    expect(lease.isHeld).toBe(false);
  });

  it('takes the wall clock as it finds it at the next renewal', async () => {
    const { clock, store, lease } = await heldLease();
    clock.jumpWall(-3_600_000);
    await clock.advance(5_000);
    store.grant(1n);
    await clock.advance(0);
    clock.jumpWall(13_000);
    expect(lease.isHeld).toBe(false);
  });

  it('is false first, in every continuation, after a freeze: before any timer, in the signal too', async () => {
    const { clock, lease } = await heldLease();
    let term: Term | undefined;
    const { promise: goOn, resolve } = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const work = lease.whileHeld(async (held) => {
      term = held;
      await goOn;
      seen.push(
        held.signal.aborted,
        held.isHeld,
        lease.isHeld,
        held.remainingMs,
        isLeaseholdError(held.signal.reason, 'LEASEHOLD_TERM_EXPIRED'),
      );
    });
    clock.jump(30_000);
    resolve();
    await work;
    expect(seen).toEqual([true, false, false, 0, true]);
    expect(() => term?.signal.throwIfAborted()).toThrow(LeaseholdError);
  });
});

describe('rule 3: the store alone judges a row, by the duration of its holder', () => {
  it('lets no candidate with a shorter lease take the row of a holder with a longer one', async () => {
    const clock = manualClock();
    const database = new MemoryDatabase({ clock });
    const long = createLeasehold({ store: memoryStore({ database }), clock, leaseDuration: '60s', renewInterval: '40s' });
    const short = createLeasehold({ store: memoryStore({ database }), clock, leaseDuration: '3s' });
    const [held, candidate] = [long.role('r'), short.role('r')];
    await Promise.all([long.start(), clock.advance(0)]);
    await Promise.all([short.start(), clock.advance(0)]);
    await clock.advance(30_000);
    expect([held.isHeld, candidate.isHeld]).toEqual([true, false]);
  });
});

describe('rule 4: every call has a deadline, bounded by what is left of the window', () => {
  it('gives a call up at callTimeout, and never looks at its answer', async () => {
    const { clock, store, lease } = await heldLease({ callTimeout: '1s' });
    await clock.advance(5_000);
    const given = store.pending;
    expect(given.call.timeoutMs).toBe(1_000);
    await clock.advance(1_000);
    expect(given.call.signal.aborted).toBe(true);
    expect(lease.state).toBe('jeopardy');
    store.heartbeats[1]?.answer({ roles: [{ ...reportHeld('r', 1n, 15_000), outcome: 'renewed', holder: 'me' }] });
    await clock.advance(0);
    expect(lease.remainingMs).toBe(7_000);
  });

  it('gives a renewal no longer than the term has left', async () => {
    const { clock, store } = await heldLease({ callTimeout: '1m' });
    await clock.advance(5_000);
    expect(store.pending.call.timeoutMs).toBe(8_000);
  });
});

describe('rule 5: one failed heartbeat ends no term; passing the deadline does', () => {
  it('tries again within the window, with growing pauses', async () => {
    const { clock, store, lease, lost } = await heldLease();
    await clock.advance(5_000);
    for (let tries = 0; tries < 4; tries += 1) {
      store.pending.fail(new Error('down'));
      await clock.advance(1_000);
    }
    expect(store.heartbeats).toHaveLength(6);
    expect([lease.isHeld, lease.state, lost.length]).toEqual([true, 'jeopardy', 0]);
    store.grant(1n);
    await clock.advance(0);
    expect(lease.state).toBe('held');
    expect(lease.remainingMs).toBeGreaterThan(12_000);
  });

  it('ends the term at the deadline, by itself, with the store silent', async () => {
    const { clock, lease, lost } = await heldLease({ callTimeout: '1m' });
    let aborted: unknown;
    void lease.whileHeld((term) => {
      term.signal.addEventListener('abort', () => (aborted = term.signal.reason));
      return new Promise(() => {});
    });
    await clock.advance(12_999);
    expect(aborted).toBeUndefined();
    await clock.advance(1);
    expect(aborted).toMatchObject({ code: 'LEASEHOLD_TERM_EXPIRED', role: 'r' });
    expect(lost).toEqual([expect.objectContaining({ role: 'r', fencingToken: 1n, reason: 'LEASEHOLD_TERM_EXPIRED' })]);
    expect(lease.state).toBe('standby');
  });
});

describe('rule 6: acquiring is not renewing', () => {
  it('renews by role and token, and takes "held by another" for a loss at once', async () => {
    const { clock, store, lease, lost } = await heldLease();
    await clock.advance(5_000);
    store.pending.answer({ roles: [reportHeld('r', 2n, 9_000)] });
    await clock.advance(0);
    expect(lease.isHeld).toBe(false);
    expect(lost).toEqual([expect.objectContaining({ fencingToken: 1n, reason: 'LEASEHOLD_TERM_LOST' })]);
    expect([lease.currentHolder, lease.currentHolderAddress, lease.holderRemainingMs]).toEqual([
      'other-1',
      'http://10.0.0.2:3000',
      9_000,
    ]);
  });

  it.each([
    ['missing', { ...reportVacant('r', 0n), outcome: 'missing' as const }],
    ['vacant', reportVacant('r', 1n)],
    ['renewed under another token', { ...reportHeld('r', 7n, 9_000), outcome: 'renewed' as const }],
  ])('takes a row that is %s for a loss, and then competes anew', async (_, report) => {
    const { clock, store, lease, lost } = await heldLease();
    await clock.advance(5_000);
    store.pending.answer({ roles: [report] });
    await clock.advance(5_000);
    expect([lease.isHeld, lost.length]).toEqual([false, 1]);
    expect(store.pending.request.acquire).toMatchObject([{ role: 'r' }]);
    expect(store.pending.request.renew).toEqual([]);
  });

  it('acquires anew, under a new token, what it lost track of', async () => {
    const { clock, store, lease, acquired } = await heldLease({ callTimeout: '1m' });
    await clock.advance(13_000);
    expect(lease.isHeld).toBe(false);
    store.pending.fail(new Error('down'));
    await clock.advance(1_000);
    expect(store.pending.request.renew).toEqual([]);
    expect(store.pending.request.acquire).toEqual([{ role: 'r', leaseMs: 15_000, tokenFloor: 1n }]);
    store.grant(2n);
    await clock.advance(0);
    expect(acquired.map(({ fencingToken }) => fencingToken)).toEqual([1n, 2n]);
  });
});

describe('rule 7: a token never goes back', () => {
  it('asks for more than the highest token ever seen, also one seen in the hands of others', async () => {
    const { clock, store, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    store.pending.answer({ roles: [reportHeld('r', 41n, 15_000)] });
    await clock.advance(5_000);
    store.pending.answer({ roles: [reportHeld('r', 7n, 15_000)] });
    await clock.advance(5_000);
    expect(store.pending.request.acquire).toMatchObject([{ tokenFloor: 41n }]);
  });

  it('goes on above it when the row was deleted', async () => {
    const clock = manualClock();
    const database = new MemoryDatabase({ clock });
    const leasehold = createLeasehold({ store: memoryStore({ database }), clock });
    const lease = leasehold.role('r');
    await Promise.all([leasehold.start(), clock.advance(0)]);
    for (let token = 1n; token < 4n; token += 1n) {
      expect(lease.fencingToken).toBe(token);
      database.deleteRow('r');
      await clock.advance(5_100);
    }
    expect(lease.fencingToken).toBe(4n);
  });
});

describe('rule 8: state first, then the signal, then diagnostics; one loss for each gain', () => {
  it('shows the loss in the state before the signal, and in both before the channel', async () => {
    const { clock, lease, leasehold } = await heldLease();
    const order: unknown[] = [];
    const onLost = (): void => void order.push(['channel', lease.isHeld, term?.signal.aborted]);
    subscribe('leasehold:lease.lost', onLost);
    onTestFinished(() => void unsubscribe('leasehold:lease.lost', onLost));
    let term: Term | undefined;
    void lease.whileHeld((held) => {
      term = held;
      held.signal.addEventListener('abort', () =>
        order.push(['signal', lease.isHeld, held.isHeld, lease.state, lease.fencingToken]),
      );
      return new Promise(() => {});
    });
    void leasehold.stop();
    await clock.advance(0);
    expect(order).toEqual([
      ['signal', false, false, 'stopped', null],
      ['channel', false, true],
    ]);
  });

  it('announces one loss although everybody notices it', async () => {
    const { clock, lease, lost } = await heldLease();
    clock.jump(20_000);
    expect([lease.isHeld, lease.state, lease.fencingToken, lease.remainingMs]).toEqual([false, 'standby', null, 0]);
    await clock.advance(0);
    expect(lost).toHaveLength(1);
  });

  it('goes on when a logger throws', async () => {
    const broken = (): never => {
      throw new Error('disk full');
    };
    const { clock, store, lease } = await heldLease({ logger: { debug: broken, info: broken, warn: broken, error: broken } });
    expect(lease.isHeld).toBe(true);
    await clock.advance(5_000);
    store.pending.answer({ roles: [reportHeld('r', 2n, 1_000)] });
    await clock.advance(2_000);
    expect(store.pending.request.acquire).toHaveLength(1);
  });

  it('harms nobody when a listener throws: the other listeners, the loss and the next heartbeat come all the same', async () => {
    const uncaught: unknown[] = [];
    const previous = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const onUncaught = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    onTestFinished(() => {
      process.off('uncaughtException', onUncaught);
      for (const listener of previous) process.on('uncaughtException', listener);
    });
    const { clock, store, lease, lost } = await heldLease();
    let reached = false;
    void lease.whileHeld((term) => {
      term.signal.addEventListener('abort', () => {
        throw new Error('listener');
      });
      term.signal.addEventListener('abort', () => (reached = true));
      return new Promise(() => {});
    });
    await clock.advance(5_000);
    store.pending.answer({ roles: [reportHeld('r', 2n, 1_000)] });
    await clock.advance(2_000);
    expect([reached, lost.length, store.pending.request.acquire.length]).toEqual([true, 1, 1]);
    await expect.poll(() => uncaught).toEqual([expect.objectContaining({ message: 'listener' })]);
  });
});

describe('rule 9: stop drains before it releases, and does not release what did not drain', () => {
  it('refuses new work, aborts, renews while draining, releases, closes', async () => {
    const { clock, store, lease, leasehold, lost } = await heldLease();
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    let aborted = false;
    const work = lease.whileHeld(async (term) => {
      term.signal.addEventListener('abort', () => (aborted = true));
      await finished;
    });
    const stopped = leasehold.stop();
    expect([aborted, lease.isHeld, lease.state, lost.length]).toEqual([true, false, 'stopped', 1]);
    expect(await lease.whileHeld(() => 1)).toEqual({ ran: false, currentHolder: null });
    await clock.advance(5_000);
    expect(store.pending.request.renew).toEqual([{ role: 'r', fencingToken: 1n }]);
    store.grant(1n);
    await clock.advance(0);
    expect(store.releases).toHaveLength(0);
    finish();
    await work;
    await clock.advance(0);
    expect(store.releases[0]?.request).toMatchObject({ roles: [{ role: 'r', fencingToken: 1n }], leaving: false });
    expect(store.closed).toBe(false);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await clock.advance(0);
    expect(store.releases[1]?.request).toMatchObject({ roles: [], leaving: true });
    store.releases[1]?.answer({ roles: new Map() });
    await Promise.all([stopped, clock.advance(0)]);
    expect(store.closed).toBe(true);
  });

  it('leaves the lease of work that does not end to run out', async () => {
    const { clock, store, lease, leasehold } = await heldLease({ drainTimeout: '2s' });
    void lease.whileHeld(() => new Promise(() => {}));
    const stopped = leasehold.stop();
    await clock.advance(2_000);
    store.releases[0]?.answer({ roles: new Map() });
    await Promise.all([stopped, clock.advance(0)]);
    expect(store.releases.map(({ request }) => request.roles)).toEqual([[]]);
    expect(store.closed).toBe(true);
  });

  it('gives the release a budget of its own, tries again, and ends when it is used up', async () => {
    const { clock, store, leasehold } = await heldLease({ releaseTimeout: '1s' });
    const stopped = leasehold.stop();
    await clock.advance(0);
    store.releases[0]?.fail(new Error('reset'));
    await clock.advance(100);
    expect(store.releases).toHaveLength(2);
    expect(store.releases[1]?.call.timeoutMs).toBeLessThan(1_000);
    await Promise.all([stopped, clock.advance(1_000)]);
    expect(store.closed).toBe(true);
  });

  it('releases by name what it may hold without knowing', async () => {
    const { clock, store, leasehold } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    store.pending.fail(new Error('reply lost'));
    await clock.advance(0);
    const stopped = leasehold.stop();
    await clock.advance(0);
    expect(store.releases[0]?.request.roles).toEqual([{ role: 'r', fencingToken: null }]);
    store.releases[0]?.answer({ roles: new Map([['r', 'not-held']]) });
    await Promise.all([stopped, clock.advance(0)]);
  });
});

describe('rule 10: a candidate never gives up', () => {
  it('tries on through a thousand failures of every kind', async () => {
    const { clock, store, leasehold, lease } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    for (let failures = 0; failures < 1_000; failures += 1) {
      const before = store.heartbeats.length;
      if (failures % 3 === 0) store.pending.fail(new Error('down'));
      else if (failures % 3 === 1) store.pending.answer({ roles: [] });
      else store.pending.fail(undefined as unknown as Error);
      await clock.advance(5_000);
      expect(store.heartbeats.length).toBeGreaterThan(before);
    }
    store.grant(9n);
    await clock.advance(0);
    expect(lease.isHeld).toBe(true);
  });
});
