import { describe, expect, it } from 'vitest';
import { heldLease, scriptedLease } from '../support/scripted-lease.ts';

describe('a store that rejects without a reason', () => {
  it('has failed: the heartbeat is tried again at once', async () => {
    const { clock, store, lease } = await heldLease();
    await clock.advance(5_000);
    store.pending.fail(undefined as unknown as Error);
    await clock.advance(200);
    expect([lease.state, store.heartbeats.length]).toEqual(['jeopardy', 3]);
  });

  it('has not let start() succeed', async () => {
    const { clock, store, leasehold } = scriptedLease({ startup: 'fail' });
    const started = expect(leasehold.start()).rejects.toMatchObject({ code: 'LEASEHOLD_STORE_UNAVAILABLE' });
    await clock.advance(0);
    store.pending.fail(undefined as unknown as Error);
    await Promise.all([started, clock.advance(0)]);
  });
});

describe('a store that throws at once', () => {
  it('has failed as one that rejects', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    const broken = (): never => {
      throw new Error('not a promise');
    };
    Object.assign(store, { heartbeat: broken, release: broken, close: broken });
    await clock.advance(5_000);
    expect(lease.state).toBe('jeopardy');
    await Promise.all([leasehold.stop(), clock.advance(10_000)]);
    expect([lease.state, clock.pendingTimers]).toEqual(['stopped', 0]);
  });
});

describe('a renewal of a row that is kept for less than its lease', () => {
  it('is believed for less, also than before', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    await clock.advance(5_000);
    const by = { holder: leasehold.instance.id, holderAddress: null };
    store.pending.answer({ roles: [{ role: 'r', outcome: 'renewed', fencingToken: 1n, remainingMs: 3_000, ...by }] });
    await clock.advance(999);
    expect([lease.isHeld, lease.remainingMs]).toEqual([true, 1]);
    await clock.advance(1);
    expect(lease.isHeld).toBe(false);
  });

  it.each([Number.NaN, undefined])('is not believed when the store says %o', async (remainingMs) => {
    const { clock, store, lease, leasehold, acquired } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    const by = { holder: leasehold.instance.id, holderAddress: null, remainingMs: remainingMs as number };
    store.pending.answer({ roles: [{ role: 'r', outcome: 'acquired', fencingToken: 1n, ...by }] });
    await clock.advance(0);
    expect([lease.isHeld, acquired]).toEqual([false, []]);
  });
});

describe('stop', () => {
  it('ends when the store answers a release with nonsense', async () => {
    const { clock, store, leasehold } = await heldLease();
    const stopped = leasehold.stop();
    await clock.advance(0);
    store.releases[0]?.answer({ roles: 7 } as never);
    await Promise.all([stopped, clock.advance(10_000)]);
    expect([store.closed, clock.pendingTimers]).toEqual([true, 0]);
  });

  it('ends when the store never closes', async () => {
    const { clock, store, leasehold } = await heldLease({ releaseTimeout: '1s' });
    store.releaseOutcome = 'released';
    store.close = () => new Promise(() => {});
    await Promise.all([leasehold.stop(), clock.advance(1_000)]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is one stop, also for an abort listener that calls it', async () => {
    const { clock, store, lease, leasehold } = await heldLease();
    store.releaseOutcome = 'released';
    let inner: Promise<void> | undefined;
    const stopToo = (): void => void (inner = leasehold.stop());
    await lease.whileHeld((term) => term.signal.addEventListener('abort', stopToo));
    const stopped = leasehold.stop();
    expect(inner).toBe(stopped);
    await Promise.all([stopped, clock.advance(0)]);
    expect(store.releases.map(({ request }) => request.roles.length)).toEqual([1, 0]);
  });
});
