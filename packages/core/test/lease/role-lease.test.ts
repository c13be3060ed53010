import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { heldLease, scriptedLease } from '../support/scripted-lease.ts';

describe('whileHeld', () => {
  it('runs where held and answers the value; elsewhere it says who holds', async () => {
    const { lease } = await heldLease();
    expect(await lease.whileHeld((term) => term.fencingToken)).toEqual({ ran: true, value: 1n });
    const { lease: other } = scriptedLease();
    expect(await other.whileHeld(() => expect.unreachable())).toEqual({ ran: false, currentHolder: null });
  });

  it('throws what the work throws, and still lets the role go', async () => {
    const { lease, store, clock } = await heldLease();
    await expect(lease.whileHeld(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    const done = lease.stepDown();
    await clock.advance(0);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    expect(await done).toBe('released');
  });
});

describe('every', () => {
  it('gates each cycle, never overlaps, survives a cycle that throws, and stops', async () => {
    const { lease, clock, store } = await heldLease({ callTimeout: '1m' });
    const started: number[] = [];
    let running = 0;
    const repeated = lease.every('1s', async () => {
      started.push(clock.monotonic());
      expect((running += 1)).toBe(1);
      if (started.length === 2) await new Promise<void>((resolve) => clock.setTimer(resolve, 2_500));
      running -= 1;
      if (started.length === 3) throw new Error('one bad cycle');
    });
    await clock.advance(5_000);
    expect(started).toEqual([0, 1_000, 3_500, 4_500]);
    await clock.advance(8_000);
    const whileHeld = started.length;
    expect(lease.isHeld).toBe(false);
    await clock.advance(3_000);
    expect(started).toHaveLength(whileHeld);
    store.pending.fail(new Error('back soon'));
    await clock.advance(1_000);
    store.grant(2n);
    await clock.advance(2_000);
    expect(started.length).toBeGreaterThan(whileHeld);
    await repeated.stop();
    const atStop = started.length;
    await clock.advance(2_000);
    expect(started).toHaveLength(atStop);
  });

  it('runs as soon as the role is won, however long the interval, and not sooner than an interval after its last run', async () => {
    const { leasehold, lease, store, clock } = scriptedLease();
    const ran: number[] = [];
    lease.every('1h', () => void ran.push(clock.monotonic()));
    await clock.advance(60_000);
    await leasehold.start();
    await clock.advance(10);
    store.grant(1n);
    await clock.advance(0);
    expect(ran).toEqual([60_010]);
    const done = lease.stepDown({ standAside: 0 });
    await clock.advance(0);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await done;
    await clock.advance(5_000);
    store.grant(2n);
    await clock.advance(0);
    expect([lease.isHeld, ran.length]).toEqual([true, 1]);
    for (let beat = 0; beat < 800; beat += 1) {
      store.grant(2n);
      await clock.advance(5_000);
    }
    expect(ran).toEqual([60_010, 3_660_010]);
  });

  it('keeps no timer while the role is not held, and ends when the Leasehold stops', async () => {
    const { lease, clock } = scriptedLease();
    const repeated = lease.every('1s', () => expect.unreachable());
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
    await repeated.stop();
  });
});

describe('stepDown', () => {
  it('ends the term before it returns, releases, and stands aside for the lease duration', async () => {
    const { lease, store, clock, lost } = await heldLease();
    const done = lease.stepDown();
    expect([lease.isHeld, lost.map(({ reason }) => reason)]).toEqual([false, ['LEASEHOLD_TERM_STEPPED_DOWN']]);
    await clock.advance(0);
    expect(store.releases[0]?.request).toMatchObject({ roles: [{ role: 'r', fencingToken: 1n }], leaving: false });
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    expect(await done).toBe('released');
    await clock.advance(5_000);
    expect(store.pending.request).toMatchObject({ acquire: [], observe: ['r'] });
    store.grant(1n);
    await clock.advance(5_000);
    store.grant(1n);
    await clock.advance(5_000);
    expect(store.pending.request.acquire).toHaveLength(1);
  });

  it('answers not-held where there is nothing to give', async () => {
    const { lease } = scriptedLease();
    expect(await lease.stepDown()).toBe('not-held');
  });

  it('says not-drained for work that does not end, and releases nothing', async () => {
    const { lease, store, clock } = await heldLease({ drainTimeout: '1s' });
    void lease.whileHeld(() => new Promise(() => {}));
    const [outcome] = await Promise.all([lease.stepDown(), clock.advance(1_000)]);
    expect([outcome, store.releases.length]).toEqual(['not-drained', 0]);
  });

  it('stands aside until told, and gives back a role that it wins while it does', async () => {
    const { leasehold, lease, store, clock, acquired } = scriptedLease();
    await leasehold.start();
    await clock.advance(0);
    expect(store.pending.request.acquire).toHaveLength(1);
    await leasehold.standAside();
    store.grant(5n);
    await clock.advance(0);
    expect([lease.isHeld, acquired.length]).toEqual([false, 0]);
    expect(store.releases[0]?.request.roles).toEqual([{ role: 'r', fencingToken: 5n }]);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await clock.advance(60_000);
    expect(store.pending.request.observe).toEqual(['r']);
    store.grant(5n);
    await clock.advance(0);
    leasehold.compete();
    await clock.advance(20);
    expect(store.pending.request.acquire).toHaveLength(1);
  });
});

describe('maxHold', () => {
  it('ends a term that lasts too long, however healthy its renewals', async () => {
    const { store, clock, lost } = await heldLease({ role: { maxHold: '12s' } });
    for (let beat = 0; beat < 2; beat += 1) {
      await clock.advance(5_000);
      store.grant(1n);
    }
    expect(lost).toHaveLength(0);
    await clock.advance(5_000);
    expect(lost).toEqual([expect.objectContaining({ reason: 'LEASEHOLD_TERM_STEPPED_DOWN' })]);
    expect(store.releases[0]?.request.roles).toEqual([{ role: 'r', fencingToken: 1n }]);
  });
});

describe('healthCheck', () => {
  it.each<[string, () => boolean | Promise<boolean>]>([
    ['says no', () => false],
    ['throws', () => expect.unreachable()],
    ['rejects', () => Promise.reject(new Error('ill'))],
    ['hangs', () => new Promise<boolean>(() => {})],
  ])('that %s three times in a row ends the term, and the instance does not compete', async (_, ill) => {
    let check: () => boolean | Promise<boolean> = () => true;
    const { store, clock, lost } = await heldLease({ role: { healthCheck: () => check() } });
    check = ill;
    for (let beat = 0; beat < 5; beat += 1) {
      await clock.advance(5_000);
      store.grant(1n);
      await clock.advance(0);
    }
    expect(lost).toHaveLength(1);
    store.releases[0]?.answer({ roles: new Map([['r', 'released']]) });
    await clock.advance(30_000);
    expect(store.pending.request.acquire).toEqual([]);
  });

  it('lets it compete again when it passes', async () => {
    let healthy = false;
    const { store, clock, leasehold } = scriptedLease({ role: { healthCheck: () => healthy, healthCheckFailures: 1 } });
    await leasehold.start();
    await clock.advance(0);
    for (let beat = 0; beat < 3; beat += 1) {
      store.grant(1n);
      await clock.advance(5_000);
    }
    expect(store.pending.request.acquire).toEqual([]);
    healthy = true;
    for (let beat = 0; beat < 2; beat += 1) {
      store.grant(1n);
      await clock.advance(5_000);
    }
    expect(store.pending.request.acquire).toHaveLength(1);
  });
});

describe('what is seen from outside', () => {
  it('turns to jeopardy when a renewal is overdue, before anything has failed', async () => {
    const { lease, clock, leasehold } = await heldLease({ callTimeout: '1m' });
    expect(lease.state).toBe('held');
    expect([lease.currentHolder, lease.holderRemainingMs]).toEqual([leasehold.instance.id, 13_000]);
    await clock.advance(6_001);
    expect(lease.state).toBe('jeopardy');
  });

  it('announces jeopardy once until a renewal succeeds, and a stall when the loop wakes late', async () => {
    const seen: unknown[] = [];
    const listeners = ['leasehold:lease.jeopardy', 'leasehold:stall'].map((name) => {
      const listener = (message: unknown): void => void seen.push([name, message]);
      subscribe(name, listener);
      return () => void unsubscribe(name, listener);
    });
    onTestFinished(() => listeners.forEach((off) => off()));
    const { store, clock } = await heldLease();
    await clock.advance(5_000);
    store.pending.fail(new Error('down'));
    await clock.advance(200);
    store.pending.fail(new Error('down'));
    await clock.advance(500);
    store.grant(1n);
    await clock.advance(0);
    clock.jump(6_000);
    await clock.advance(0);
    expect(seen).toEqual([
      ['leasehold:lease.jeopardy', expect.objectContaining({ role: 'r', fencingToken: 1n, remainingMs: 8_000 })],
      ['leasehold:stall', expect.objectContaining({ lateMs: expect.any(Number) })],
    ]);
  });

  it('lists what is held', async () => {
    const { leasehold, clock } = await heldLease();
    leasehold.role('vacant');
    expect(leasehold.leases.heldRoles()).toEqual(['r']);
    expect([...leasehold.leases].map(({ role, isHeld }) => [role, isHeld])).toEqual([
      ['r', true],
      ['vacant', false],
    ]);
    clock.jump(13_000);
    expect(leasehold.leases.heldRoles()).toEqual([]);
  });
});
