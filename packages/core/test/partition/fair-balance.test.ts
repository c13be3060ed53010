import type { LeaseStore } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it } from 'vitest';
import { Fleet, type Instance, randomOf } from '../support/fleet.ts';

const BEAT_MS = 5_000;

/** Runs so many renew intervals, and counts the moves of each role from one owner to another since the members last changed. */
async function run(fleet: Fleet, beats: number, may: 'may move' | 'moves once' = 'moves once'): Promise<Map<number, number>> {
  const moves = new Map<number, number>();
  const lastOwner = fleet.owners();
  let members = fleet.members();
  for (let step = 0; step < beats * 20; step += 1) {
    await fleet.clock.advance(BEAT_MS / 20);
    if (fleet.members() !== members) {
      members = fleet.members();
      moves.clear();
    }
    for (const [place, owner] of fleet.owners().entries()) {
      const before = lastOwner[place];
      if (owner === null || owner === before) continue;
      if (before !== null && before !== undefined) moves.set(place, (moves.get(place) ?? 0) + 1);
      lastOwner[place] = owner;
    }
    if (may === 'moves once')
      expect(Math.max(0, ...moves.values()), 'no role moves twice while the members are the same').toBeLessThanOrEqual(1);
  }
  return moves;
}

const sum = (moves: ReadonlyMap<number, number>): number => [...moves.values()].reduce((a, b) => a + b, 0);

describe('a fair partition', () => {
  it('belongs to a single instance whole', async () => {
    const fleet = new Fleet();
    fleet.join({ count: 16 });
    await run(fleet, 1);
    expect(fleet.spread()).toEqual([16]);
  });

  it('gives a newcomer its share within eight heartbeats, in the fewest moves', async () => {
    const fleet = new Fleet();
    fleet.join({ count: 64 });
    await run(fleet, 2);
    fleet.join({ count: 64 });
    const second = await run(fleet, 8);
    expect(fleet.spread()).toEqual([32, 32]);
    expect(sum(second)).toBe(32);
    fleet.join({ count: 64 });
    const third = await run(fleet, 8);
    expect(fleet.spread()).toEqual([22, 21, 21]);
    expect(sum(third)).toBe(21);
    expect(Math.max(...third.values())).toBe(1);
  });

  it('is taken over when an instance stops, evenly and at once', async () => {
    const fleet = new Fleet();
    const [, second] = [fleet.join({ count: 64 }), fleet.join({ count: 64 }), fleet.join({ count: 64 })] as [
      Instance,
      Instance,
      Instance,
    ];
    await run(fleet, 8);
    void second.leasehold.stop();
    fleet.leave(second);
    const moves = await run(fleet, 0.1);
    expect(fleet.spread()).toEqual([32, 32]);
    expect(sum(moves)).toBeLessThanOrEqual(22);
  });

  it('is taken over when an instance is cut off, not before its lease has run out', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 9 }), fleet.join({ count: 9 })] as [Instance, Instance];
    await run(fleet, 4);
    expect(fleet.spread()).toEqual([5, 4]);
    second.cutOff(true);
    await run(fleet, 6);
    expect(first.devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    second.cutOff(false);
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([5, 4]);
  });

  it('stays as it is while nothing changes', async () => {
    const fleet = new Fleet();
    for (let n = 0; n < 5; n += 1) fleet.join({ count: 64 });
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([13, 13, 13, 13, 12]);
    expect(sum(await run(fleet, 60))).toBe(0);
  });

  it('follows the weights', async () => {
    const fleet = new Fleet();
    fleet.join({ count: 40 }, { instance: { weight: 3 } });
    fleet.join({ count: 40 });
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([30, 10]);
  });

  it('leaves to others what an instance may not hold', async () => {
    const fleet = new Fleet();
    const limited = fleet.join({ count: 12 }, { canHold: (role) => /-[01]$/.test(role) });
    fleet.join({ count: 12 });
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([10, 2]);
    expect(limited.devices.partitions.filter(({ isHeld }) => isHeld).map(({ partition }) => partition)).toEqual([0, 1]);
  });

  it('hands over half of its excess with each heartbeat, and what it has held the longest', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 16 }), fleet.join({ count: 16 })] as [Instance, Instance];
    await run(fleet, 6);
    const early = first.devices.partitions.filter(({ isHeld }) => isHeld);
    void second.leasehold.stop();
    fleet.leave(second);
    await run(fleet, 2);
    fleet.join({ count: 16 });
    const counts = new Set<number>();
    for (let step = 0; step < 8 * 20; step += 1) {
      await run(fleet, 0.05);
      counts.add(first.devices.partitions.filter(({ isHeld }) => isHeld).length);
    }
    expect([...counts]).toEqual([16, 12, 10, 9, 8]);
    expect(early.filter(({ isHeld }) => isHeld)).toEqual([]);
  });

  it('leaves no role vacant for long, if need be beyond the shares, while a member cannot take what is its share', async () => {
    const fleet = new Fleet();
    fleet.join({ count: 4 });
    await run(fleet, 1);
    const store = memoryStore({ database: fleet.database });
    const heartbeat: LeaseStore['heartbeat'] = async ({ acquire, ...request }, call) => {
      const observe = acquire.map(({ role }) => role).concat(request.observe);
      return store.heartbeat({ ...request, acquire: [], observe }, call);
    };
    fleet.join({ count: 4 }, { store: { ...store, heartbeat } });
    const vacantFor = [0, 0, 0, 0];
    const longest = [0, 0, 0, 0];
    for (let beat = 0; beat < 40; beat += 1) {
      await run(fleet, 1, 'may move');
      for (const [place, owner] of fleet.owners().entries()) {
        vacantFor[place] = owner === null ? (vacantFor[place] ?? 0) + 1 : 0;
        longest[place] = Math.max(longest[place] ?? 0, vacantFor[place] ?? 0);
      }
    }
    expect(Math.max(...longest)).toBeGreaterThan(0);
    expect(Math.max(...longest), 'heartbeats for which any role stood vacant').toBeLessThanOrEqual(5);
  });

  it('hands over what the others may hold, and nothing that they may not', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 12 });
    await run(fleet, 2);
    const limited = [
      fleet.join({ count: 12 }, { canHold: (role) => /-[01]$/.test(role) }),
      fleet.join({ count: 12 }, { canHold: (role) => /-[01]$/.test(role) }),
    ];
    const moves = await run(fleet, 8);
    const heldBy = (instance: Instance | undefined): number[] =>
      (instance?.devices.partitions ?? []).filter(({ isHeld }) => isHeld).map(({ partition }) => partition);
    expect(heldBy(first)).toHaveLength(10);
    expect(limited.flatMap(heldBy).toSorted()).toEqual([0, 1]);
    expect(sum(moves)).toBe(2);
    const owners = fleet.owners();
    for (let beat = 0; beat < 20; beat += 1) {
      await run(fleet, 1);
      expect(fleet.owners()).toEqual(owners);
    }
  });

  it('gives a role whose holder stepped down to one that may take it, although all have their share', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 8 }), fleet.join({ count: 8 })] as [Instance, Instance];
    await run(fleet, 4);
    const left = first.devices.partitions.find(({ isHeld }) => isHeld);
    void left?.stepDown({ standAside: 'until-told' });
    await run(fleet, 2);
    expect(second.devices.partitions[left?.partition ?? -1]?.isHeld).toBe(true);
    await run(fleet, 4);
    expect(fleet.spread()).toEqual([4, 4]);
  });

  it('does not beat faster while a vacant role is locked by a fenced transaction', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 4 }), fleet.join({ count: 4 })] as [Instance, Instance];
    await run(fleet, 4);
    const lease = second.devices.partitions.find(({ isHeld }) => isHeld);
    let beats = 0;
    fleet.onBeat = (id) => (beats += id === first.id ? 1 : 0);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const fenced = fleet.database.transaction(async (client) => {
      await lease?.whileHeld((term) => term.fence(client));
      await end;
    });
    await fleet.clock.advance(1);
    second.cutOff(true);
    await run(fleet, 10);
    resolve();
    await fenced;
    expect(beats).toBeGreaterThan(10);
    expect(beats).toBeLessThan(10 * 60);
    await run(fleet, 1);
    expect(first.devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('leaves nothing to an instance that stands aside, or is ill', async () => {
    const fleet = new Fleet();
    let healthy = true;
    const first = fleet.join({ count: 16, healthCheck: () => healthy });
    const second = fleet.join({ count: 16 });
    await run(fleet, 6);
    expect(fleet.spread()).toEqual([8, 8]);
    healthy = false;
    await run(fleet, 8);
    expect(second.devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    healthy = true;
    await run(fleet, 12);
    expect(fleet.spread()).toEqual([8, 8]);
    void first.leasehold.standAside();
    await run(fleet, 0.1);
    expect(second.devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    first.leasehold.compete();
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([8, 8]);
  });

  it('hands over idle roles first, and waits for the work under the others', async () => {
    const fleet = new Fleet();
    const first = fleet.join({ count: 4 });
    await run(fleet, 1);
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const busy = first.devices.partitions.slice(2).map((lease) => lease.whileHeld(() => work));
    fleet.join({ count: 4 });
    await run(fleet, 8);
    expect(fleet.spread()).toEqual([2, 2]);
    expect(first.devices.partitions.filter(({ isHeld }) => isHeld).map(({ partition }) => partition)).toEqual([2, 3]);
    endWork();
    await Promise.all(busy);
  });

  it.each(Array.from({ length: 8 }, (_, n) => n + 1))(
    'has one owner at most and ends even, whatever comes and goes (seed %d)',
    async (seed) => {
      const random = randomOf(seed);
      const fleet = new Fleet(seed);
      const count = 1 + Math.floor(random() * 64);
      for (let change = 0; change < 12; change += 1) {
        const [victim] = fleet.instances.toSorted(() => random() - 0.5);
        const dice = random();
        if (victim === undefined || dice < 0.5) fleet.join({ count });
        else if (dice < 0.75) {
          void victim.leasehold.stop();
          fleet.leave(victim);
        } else victim.cutOff(random() < 0.6);
        await run(fleet, Math.ceil(random() * 4));
      }
      for (const instance of fleet.instances) instance.cutOff(false);
      if (fleet.instances.length === 0) fleet.join({ count });
      await run(fleet, 12);
      const spread = fleet.spread();
      expect(spread.reduce((a, b) => a + b)).toBe(count);
      expect((spread[0] ?? 0) - (spread.at(-1) ?? 0)).toBeLessThanOrEqual(1);
      expect(sum(await run(fleet, 10))).toBe(0);
    },
  );

  it.each(Array.from({ length: 8 }, (_, n) => n + 1))(
    'comes to rest, with an owner for all that anybody may hold, whatever each may hold (seed %d)',
    async (seed) => {
      const random = randomOf(seed);
      const fleet = new Fleet(seed);
      const count = 4 + Math.floor(random() * 28);
      const mayHold = new Map<string, ReadonlySet<string>>();
      const join = (): void => {
        const limit = random() < 0.5 ? 1 : random();
        const roles = new Set(Array.from({ length: count }, (_, n) => `devices:partition-${n}`).filter(() => random() < limit));
        const weight = 1 + Math.floor(random() * 3);
        const { id } = fleet.join({ count }, { canHold: (role) => roles.has(role), instance: { weight } });
        mayHold.set(id, roles);
      };
      for (let change = 0; change < 8; change += 1) {
        const [victim] = fleet.instances.toSorted(() => random() - 0.5);
        if (victim === undefined || random() < 0.65) join();
        else {
          void victim.leasehold.stop();
          fleet.leave(victim);
        }
        await run(fleet, Math.ceil(random() * 6), 'may move');
      }
      join();
      await run(fleet, 16, 'may move');
      const owners = fleet.owners();
      for (const [place, owner] of owners.entries()) {
        const able = fleet.instances.filter(({ id }) => mayHold.get(id)?.has(`devices:partition-${place}`));
        expect(owner === null, `role ${place} has no owner`).toBe(able.length === 0);
      }
      await run(fleet, 20, 'may move');
      expect(fleet.owners()).toEqual(owners);
    },
  );
});
