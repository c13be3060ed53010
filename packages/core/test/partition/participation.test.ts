import { createLeasehold, type HeartbeatReply, type LeaseStore, MEMBER_AFTERLIFE_MS } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it } from 'vitest';
import { Fleet, type Instance, randomOf } from '../support/fleet.ts';

const LEASE_MS = 15_000;

/** Moves time in small steps, and looks after each that no two counts are acted on. */
async function run(fleet: Fleet, ms: number, look: () => void = () => {}): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await fleet.clock.advance(250);
    expect(fleet.countsHeld().length, 'counts that are acted on').toBeLessThanOrEqual(1);
    look();
  }
}

function holdsNothing({ devices }: Instance): void {
  expect([...devices].filter(({ isHeld }) => isHeld)).toEqual([]);
}

function spyLog(): {
  readonly said: string[];
  readonly logger: Record<'debug' | 'info' | 'warn' | 'error', (fields: object, text: string) => void>;
} {
  const said: string[] = [];
  const log = (level: string) => (_: object, text: string) => void said.push(`${level}: ${text}`);
  return { said, logger: { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') } };
}

describe('another count', () => {
  it('is refused at start, with the counts and the instance named, and what was taken meanwhile is given back', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 16 });
    await run(fleet, 1_000);
    const second = fleet.join({ count: 8 }, { startup: 'wait' });
    const plain = second.leasehold.role('plain');
    await run(fleet, 1_000);
    const error = await second.started;
    expect(error).toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT', option: 'count' });
    expect((error as Error).message).toMatch(`partition "devices" has a count of 8 here and of 16 on ${first.id}`);
    expect(plain.isHeld).toBe(false);
    expect(
      fleet.database.heartbeat({ ...nobody, acquire: [{ role: 'plain', leaseMs: 1_000, tokenFloor: 0n }] }).roles,
    ).toMatchObject([{ outcome: 'acquired' }]);
    expect([...first.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('can be started again once it has gone', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 16 });
    await run(fleet, 1_000);
    const second = fleet.join({ count: 8 }, { startup: 'wait' });
    await run(fleet, 1_000);
    expect(await second.started).toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT' });
    void first.leasehold.stop();
    await run(fleet, 1_000);
    void second.leasehold.start();
    await run(fleet, 1_000);
    expect([...second.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('waits in the background, says so once, and takes part at once when the others have stopped', async () => {
    const { said, logger } = spyLog();
    const fleet = new Fleet();
    const first = fleet.join({ count: 16 });
    await run(fleet, 1_000);
    const second = fleet.join({ count: 8 }, { logger });
    await run(fleet, 120_000, () => holdsNothing(second));
    expect([...first.devices].every(({ isHeld }) => isHeld)).toBe(true);
    expect(said.filter((line) => line.startsWith('error'))).toHaveLength(1);
    void first.leasehold.stop();
    await run(fleet, 6_000);
    expect([...second.devices].every(({ isHeld }) => isHeld)).toBe(true);
    expect(said.join()).toContain('takes part again');
  });

  it('waits for an instance that stopped while work still ran under its roles', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 16 });
    await run(fleet, 1_000);
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const working = first.devices.whileHeld('7', () => work);
    const second = fleet.join({ count: 8 });
    await run(fleet, 1_000);
    void first.leasehold.stop();
    // The drain takes 8 s; then the lease runs out, and the declaration after it.
    await run(fleet, 8_000 + LEASE_MS, () => holdsNothing(second));
    endWork();
    await working;
    await run(fleet, MEMBER_AFTERLIFE_MS + 7_000);
    expect([...second.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('takes over from instances that died only after all that they could still do', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 16 });
    await run(fleet, 1_000);
    const second = fleet.join({ count: 8 });
    await run(fleet, 1_000);
    first.cutOff(true);
    await run(fleet, MEMBER_AFTERLIFE_MS, () => holdsNothing(second));
    await run(fleet, LEASE_MS + 7_000);
    expect([...second.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('has taken over from an instance that was frozen: that one keeps away when it comes back, until the others are gone', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 16 }), fleet.join({ count: 8 })] as [Instance, Instance];
    await run(fleet, 1_000);
    const [established, other] = first.devices.partitions.some(({ isHeld }) => isHeld) ? [first, second] : [second, first];
    established.cutOff(true);
    await run(fleet, LEASE_MS + MEMBER_AFTERLIFE_MS + 7_000);
    expect([...other.devices].every(({ isHeld }) => isHeld)).toBe(true);
    established.cutOff(false);
    await run(fleet, 60_000, () => holdsNothing(established));
    void other.leasehold.stop();
    await run(fleet, 6_000);
    expect([...established.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('that starts again and again refuses nobody who is right', async () => {
    const fleet = new Fleet();
    fleet.join({ count: 16 });
    await run(fleet, 1_000);
    for (let restart = 0; restart < 10; restart += 1) {
      // It ends as a process does that its supervisor starts again: without a word.
      const store = { ...memoryStore({ database: fleet.database }), release: () => new Promise<never>(() => {}) };
      const wrong = fleet.join({ count: 8 }, { startup: 'wait', store });
      await run(fleet, 2_500);
      expect(await wrong.started).toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT' });
    }
    const right = fleet.join({ count: 16 }, { startup: 'wait' });
    await run(fleet, 1_000);
    expect(await right.started).toBeUndefined();
  });

  it.each(Array.from({ length: 20 }, (_, n) => n + 1))(
    'of newcomers that start at once one at most takes part (seed %d)',
    async (seed) => {
      const fleet = new Fleet(seed);
      const random = randomOf(seed);
      for (let n = 0; n < 4; n += 1) fleet.join({ count: n % 2 === 0 ? 16 : 8, balance: random() < 0.5 ? 'off' : 'fair' });
      await run(fleet, 60_000);
      const [count] = fleet.countsHeld();
      const takesPart = fleet.instances.filter(({ devices }) => devices.count === count);
      const held = takesPart.flatMap(({ devices }) => [...devices].filter(({ isHeld }) => isHeld));
      expect(held).toHaveLength(count ?? Number.NaN);
    },
  );

  it.each(Array.from({ length: 12 }, (_, n) => n + 1))(
    'is never acted on beside the first, whatever comes and goes (seed %d)',
    async (seed) => {
      const random = randomOf(seed);
      const fleet = new Fleet(seed);
      for (let change = 0; change < 24; change += 1) {
        const [victim] = fleet.instances.toSorted(() => random() - 0.5);
        const dice = random();
        if (victim === undefined || dice < 0.4) fleet.join({ count: random() < 0.5 ? 8 : 12 });
        else if (dice < 0.6) {
          void victim.leasehold.stop();
          fleet.leave(victim);
        } else victim.cutOff(random() < 0.6);
        await run(fleet, random() * (random() < 0.3 ? 60_000 : 6_000));
      }
      for (const instance of fleet.instances) instance.cutOff(false);
      for (const instance of fleet.instances.filter(({ devices }) => devices.count === 8)) {
        void instance.leasehold.stop();
        fleet.leave(instance);
      }
      if (fleet.instances.length === 0) fleet.join({ count: 12 });
      await run(fleet, 90_000);
      expect(fleet.spread().reduce((a, b) => a + b)).toBe(12);
    },
  );
});

describe('a heartbeat that takes effect after its time', () => {
  /** A store whose next heartbeat hangs on its way, and takes effect when told; calls after it are lost. */
  function lateStore(store: LeaseStore): { readonly store: LeaseStore; begin(): void; arrive(): void } {
    let arrive: (() => void) | null = null;
    let isLost = false;
    const heartbeat: LeaseStore['heartbeat'] = (request, call) => {
      if (!isLost) return store.heartbeat(request, call);
      arrive ??= () => void store.heartbeat(request, call);
      return new Promise<HeartbeatReply>(() => {});
    };
    return {
      store: { ...store, heartbeat },
      begin: () => void (isLost = true),
      arrive: () => {
        arrive?.();
        isLost = false;
      },
    };
  }

  it('does not bring back a membership that ran out meanwhile', async () => {
    const fleet = new Fleet();
    const late = lateStore(memoryStore({ database: fleet.database }));
    const first = fleet.join({ count: 16 }, { store: late.store });
    await run(fleet, 1_000);
    expect(fleet.countsHeld()).toEqual([16]);
    const second = fleet.join({ count: 8 });
    late.begin();
    await run(fleet, LEASE_MS + MEMBER_AFTERLIFE_MS + 10_000);
    expect([...second.devices].every(({ isHeld }) => isHeld)).toBe(true);
    for (const { role } of second.devices) void second.leasehold.get(role).stepDown({ standAside: '10m' });
    await fleet.clock.advance(0);
    late.arrive();
    await run(fleet, 60_000, () => holdsNothing(first));
  });

  it('is not waited for longer than the others wait for it', async () => {
    const fleet = new Fleet();
    const store = memoryStore({ database: fleet.database });
    const timeouts: number[] = [];
    const ttls: number[] = [];
    const heartbeat: LeaseStore['heartbeat'] = (request, call) => {
      timeouts.push(call.timeoutMs);
      ttls.push(request.instanceTtlMs);
      return store.heartbeat(request, call);
    };
    fleet.join({ count: 2, leaseDuration: '10m' }, { store: { ...store, heartbeat }, callTimeout: '2m' });
    await run(fleet, 10_000);
    expect(Math.max(...timeouts)).toBeLessThan(MEMBER_AFTERLIFE_MS);
    expect(Math.min(...ttls), 'lives in the store for as long as its leases').toBe(600_000);
  });
});

/** Heartbeats and releases that hang, that are lost on their way, whose replies are lost, and that take effect long after. */
function faultyStore(fleet: Fleet, random: () => number, isQuiet: () => boolean): LeaseStore {
  const { database, clock } = fleet;
  const fated = async <T>(call: () => T): Promise<T> => {
    const dice = isQuiet() ? 0 : random();
    if (dice < 0.7) return call();
    if (dice < 0.8) throw new Error('lost');
    if (dice < 0.9) call();
    else clock.setTimer(() => void call(), random() * 90_000);
    return new Promise<never>(() => {});
  };
  return {
    ...memoryStore({ database }),
    heartbeat: (request) => fated(() => database.heartbeat(request)),
    release: (request) => fated(() => database.release(request)),
  };
}

describe('on a store that loses and delays', () => {
  // The last four are histories in which a heartbeat that hung put back what its instance had declared later.
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 204, 235, 246, 513])(
    'one count at most is acted on, and one in the end (seed %d)',
    async (seed) => {
      const random = randomOf(seed);
      const fleet = new Fleet(seed);
      let isQuiet = false;
      const leaseDuration = random() < 0.5 ? '15s' : '2m';
      const join = (): void => {
        const store = faultyStore(fleet, random, () => isQuiet);
        const options = { count: random() < 0.5 ? 8 : 12, balance: random() < 0.5 ? 'off' : 'fair', leaseDuration } as const;
        fleet.join(options, { store, callTimeout: '20s' });
      };
      for (let change = 0; change < 12; change += 1) {
        const [victim] = fleet.instances.toSorted(() => random() - 0.5);
        if (victim === undefined || random() < 0.6) join();
        else {
          void victim.leasehold.stop();
          fleet.leave(victim);
        }
        await run(fleet, random() * 60_000);
      }
      isQuiet = true;
      if (fleet.instances.length === 0) join();
      // All that was delayed has taken effect, all leases of the dead have run out, and so have their declarations.
      await run(fleet, 90_000 + 120_000 + MEMBER_AFTERLIFE_MS + 60_000);
      const [count] = fleet.countsHeld();
      const held = fleet.instances.flatMap(({ devices }) => [...devices].filter(({ isHeld }) => isHeld));
      expect(held).toHaveLength(count ?? Number.NaN);
    },
  );
});

const nobody = {
  instance: { id: 'nobody', label: 'nobody', address: null },
  instanceTtlMs: 1_000,
  renew: [],
  observe: [],
} as const;

describe('a partition', () => {
  it.each(['constructor', '__proto__', 'toString', 'devices "1"\\'])('may be called %s', async (name) => {
    const fleet = new Fleet();
    const without = fleet.join({ count: 2 });
    for (const instance of [fleet.join({ count: 2 }), fleet.join({ count: 2 })])
      instance.leasehold.partition(name, { count: 4, balance: 'fair' });
    await run(fleet, 30_000);
    fleet.leave(without);
    const held = fleet.instances.map(({ leasehold }) => [...leasehold.getPartition(name)].filter(({ isHeld }) => isHeld).length);
    expect(held).toEqual([2, 2]);
  });

  it('can be registered while the instance runs, and takes part within a second', async () => {
    const fleet = new Fleet();
    const { leasehold } = fleet.join({ count: 2 });
    await run(fleet, 10_000);
    const late = leasehold.partition('late', { count: 3 });
    await run(fleet, 1_000);
    expect(leasehold.leases.heldRoles()).toEqual(
      [0, 1].map((n) => `devices:partition-${n}`).concat([...late].map(({ role }) => role)),
    );
  });

  it('needs a store that tells of members', async () => {
    const fleet = new Fleet();
    const store = memoryStore({ database: fleet.database });
    const heartbeat: LeaseStore['heartbeat'] = async (request, call) => {
      const { roles } = await store.heartbeat(request, call);
      return { roles };
    };
    const { started, devices } = fleet.join({ count: 2 }, { store: { ...store, name: 'odd', heartbeat }, startup: 'wait' });
    await run(fleet, 1_000);
    expect(await started).toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option: 'store' });
    expect(((await started) as Error).message).toContain('the odd store tells of no members');
    expect([...devices].some(({ isHeld }) => isHeld)).toBe(false);
  });

  it('leaves its roles when its store does so no longer', async () => {
    const fleet = new Fleet();
    const store = memoryStore({ database: fleet.database });
    let tells = true;
    const heartbeat: LeaseStore['heartbeat'] = async (request, call) => {
      const { members, ...reply } = await store.heartbeat(request, call);
      return tells && members !== undefined ? { ...reply, members } : reply;
    };
    const { devices } = fleet.join({ count: 2 }, { store: { ...store, heartbeat } });
    await run(fleet, 1_000);
    expect([...devices].every(({ isHeld }) => isHeld)).toBe(true);
    tells = false;
    await run(fleet, 6_000);
    expect([...devices].some(({ isHeld }) => isHeld)).toBe(false);
  });

  it('tells what its roles do as any role does', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const devices = leasehold.partition('devices', { count: 3 });
    const other = leasehold.role('other');
    await leasehold.start();
    await expect.poll(() => leasehold.leases.heldRoles()).toEqual([...devices].map(({ role }) => role).concat('other'));
    expect(devices).toMatchObject({ name: 'devices', count: 3 });
    expect(leasehold.getPartition('devices')).toBe(devices);
    expect([...devices].map(({ partition }) => partition)).toEqual([0, 1, 2]);
    expect(devices.resolve('7')).toBe(devices.partitions[devices.resolve('7').partition]);
    expect(leasehold.get(devices.resolve('7').role)).toBe(devices.resolve('7'));
    expect(devices.isHeld('7')).toBe(true);
    expect(await devices.whileHeld('7', ({ role }) => role)).toEqual({ ran: true, value: devices.resolve('7').role });
    expect(await devices.whileHeld('Order', '7', ({ role }) => role)).toEqual({
      ran: true,
      value: devices.resolve('Order', '7').role,
    });
    expect(other.isHeld).toBe(true);
    await leasehold.stop();
    expect(devices.isHeld('7')).toBe(false);
    expect(await devices.whileHeld('7', () => 1)).toEqual({ ran: false, currentHolder: null });
  });
});
