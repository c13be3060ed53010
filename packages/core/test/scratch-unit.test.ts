import { createLeasehold, systemClock, delay } from '@leasehold/core';
import { memoryStore, MemoryDatabase } from '@leasehold/core/memory';
import { postgresStore } from '@leasehold/core/postgres';
import { describe, expect, it, vi, onTestFinished } from 'vitest';
import { manualClock } from '../../testing/src/manual-clock.ts';
import { heldLease, scriptedLease } from './support/scripted-lease.ts';
import { ScriptedStore } from './support/scripted-store.ts';

const msg = (f: () => unknown): string => {
  try {
    f();
    return 'none';
  } catch (e) {
    return String(e);
  }
};

describe('scratch', () => {
  it('U1 renewed row that the store keeps for less', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    await clock.advance(5_000);
    store.pending.answer({
      roles: [
        {
          role: 'r',
          outcome: 'renewed',
          holder: leasehold.instance.id,
          holderAddress: null,
          fencingToken: 1n,
          remainingMs: 3_000,
        },
      ],
    });
    await clock.advance(0);
    expect(lease.remainingMs).toBeLessThanOrEqual(3_000);
  });
  it('U2 rejects with undefined counts as a failure', async () => {
    const { clock, store, lease } = await heldLease();
    await clock.advance(5_000);
    const n = store.heartbeats.length;
    store.pending.fail(undefined as never);
    await clock.advance(200);
    expect([lease.state, store.heartbeats.length]).toEqual(['jeopardy', n + 1]);
  });
  it('U2b start fails when rejected with undefined', async () => {
    const { clock, store, leasehold } = scriptedLease({ startup: 'wait' });
    let started = false;
    void leasehold.start().then(() => (started = true));
    await clock.advance(0);
    store.pending.fail(undefined as never);
    await clock.advance(0);
    expect(started).toBe(false);
  });
  it('U4 secrets', () => {
    const url = 'postgres://u:s3cret@h:1/d';
    expect(msg(() => postgresStore(url as never))).not.toContain('s3cret');
  });
  it('U4b secrets', () => {
    expect(msg(() => createLeasehold({ store: 'postgres://u:s3cret@h:1/d' as never }))).not.toContain('s3cret');
  });
  it('U4c secrets', () => {
    expect(msg(() => createLeasehold('postgres://u:s3cret@h:1/d' as never))).not.toContain('s3cret');
  });
  it('U6 role registered while standing aside', async () => {
    const { clock, store, leasehold } = await heldLease();
    const p = leasehold.standAside();
    await clock.advance(0);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await p;
    leasehold.role('late');
    await clock.advance(20);
    expect(store.pending.request.acquire).toEqual([]);
  });
  it('U7 short role: one hung call leaves time for another', async () => {
    const clock = manualClock();
    const store = new ScriptedStore();
    const leasehold = createLeasehold({ store, clock, random: () => 0, startup: 'background' });
    const lease = leasehold.role('short', { leaseDuration: '3s' });
    await leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await clock.advance(1_000);
    const n = store.heartbeats.length;
    expect(store.pending.request.renew).toHaveLength(1);
    await clock.advance(1_500);
    expect([lease.isHeld, store.heartbeats.length > n]).toEqual([true, true]);
  });
  it('U7b a hung call of another role does not end the term', async () => {
    const clock = manualClock();
    const store = new ScriptedStore();
    const leasehold = createLeasehold({ store, clock, random: () => 0, startup: 'background', leaseDuration: '60s' });
    const lease = leasehold.role('short', { leaseDuration: '3s' });
    leasehold.role('long');
    await leasehold.start();
    await clock.advance(0);
    store.grant(1n);
    await clock.advance(500);
    leasehold.role('later');
    await clock.advance(20);
    expect(store.pending.request.renew).toHaveLength(0);
    await clock.advance(1_900);
    expect([lease.isHeld, store.pending.request.renew.length]).toEqual([true, 1]);
  });
  it('U8 slow health check during fast retries', async () => {
    let calls = 0;
    const clock0: { c?: ReturnType<typeof manualClock> } = {};
    const { clock, store, lease } = await heldLease({
      role: {
        healthCheck: () => {
          calls += 1;
          return calls < 2 ? true : new Promise<boolean>((r) => clock0.c!.setTimer(() => r(true), 1_000));
        },
      },
    });
    clock0.c = clock;
    await clock.advance(5_000);
    for (let i = 0; i < 4; i += 1) {
      store.pending.fail(new Error('down'));
      await clock.advance(200 * 2 ** i);
      if (i === 2) break;
    }
    store.grant(1n);
    await clock.advance(100);
    expect(lease.isHeld).toBe(true);
  });
  it('U9 stop from an abort listener', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    let inner: Promise<void> | undefined;
    void lease.whileHeld((term) => {
      term.signal.addEventListener('abort', () => {
        inner = leasehold.stop();
      });
    });
    store.releaseOutcome = 'released';
    const outer = leasehold.stop();
    expect(inner).toBe(outer);
    await Promise.all([outer, clock.advance(0)]);
    expect(store.releases).toHaveLength(2);
  });
  it('U13 a store shared by two', async () => {
    const store = memoryStore();
    await using a = createLeasehold({ store });
    await using b = createLeasehold({ store });
    await a.start();
    await expect(b.start()).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION' });
  });
  it('U14 long timers', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let fired = 0;
    systemClock.setTimer(() => (fired += 1), 30 * 86_400_000);
    await vi.advanceTimersByTimeAsync(29 * 86_400_000);
    expect(fired).toBe(0);
    await vi.advanceTimersByTimeAsync(86_400_000);
    expect(fired).toBe(1);
  });
  it('U17 release answers nonsense', async () => {
    const { clock, store, leasehold } = await heldLease();
    const stopped = leasehold.stop();
    await clock.advance(0);
    store.releases[0]?.answer({ roles: 7 } as never);
    await Promise.all([stopped, clock.advance(10_000)]);
    expect(store.closed).toBe(true);
  });
  it('U17b store.close never settles', async () => {
    const { clock, store, leasehold } = await heldLease();
    store.releaseOutcome = 'released';
    store.close = () => new Promise(() => {});
    let done = false;
    void leasehold.stop().then(
      () => (done = true),
      () => (done = true),
    );
    await clock.advance(60_000);
    expect(done).toBe(true);
  });
  it('U17c store.close throws', async () => {
    const { clock, store, leasehold } = await heldLease();
    store.releaseOutcome = 'released';
    store.close = () => {
      throw new Error('x');
    };
    await Promise.all([leasehold.stop(), clock.advance(10_000)]);
  });
  it('U20 misuse', async () => {
    const { lease, leasehold } = await heldLease();
    expect(msg(() => leasehold.role('x', null as never))).toContain('LeaseholdError');
    expect(msg(() => lease.stepDown(null as never))).toContain('LeaseholdError');
    expect(msg(() => lease.every('1s', undefined as never))).toContain('LeaseholdError');
    await expect(lease.whileHeld(undefined as never)).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION' });
    expect(msg(() => createLeasehold({ instance: null as never }))).toContain('LeaseholdError');
    expect(msg(() => createLeasehold({ store: { heartbeat() {}, release() {} } as never }))).toContain('LeaseholdError');
  });
  it('U21 sync throwing store', async () => {
    const { clock, store, lease } = await heldLease();
    store.heartbeat = () => {
      throw new Error('sync');
    };
    store.release = () => {
      throw new Error('sync');
    };
    await clock.advance(14_000);
    expect(lease.isHeld).toBe(false);
  });
  it('U22 any/once', async () => {
    const { clock, lease } = await heldLease();
    let any: AbortSignal | undefined;
    let fired = 0;
    void lease.whileHeld(async (term) => {
      any = AbortSignal.any([term.signal, new AbortController().signal]);
      any.addEventListener('abort', () => (fired += 1));
      await new Promise(() => {});
    });
    clock.jump(20_000);
    console.log('any aborted before timers', any?.aborted);
    await clock.advance(0);
    expect([any?.aborted, fired]).toEqual([true, 1]);
  });
});
