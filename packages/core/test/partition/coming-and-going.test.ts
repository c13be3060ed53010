import { diagnosticChannels, type LeaseStore, type TermMessage } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fleet } from '../support/fleet.ts';

const BEAT_MS = 5_000;

describe('a fair partition', () => {
  it('is taken over at once when an instance stops, whatever still runs under one of its roles', async () => {
    const fleet = new Fleet();
    const [first, second] = [fleet.join({ count: 16 }), fleet.join({ count: 16 })];
    await fleet.clock.advance(60_000);
    const busy = [...second.devices].find(({ isHeld }) => isHeld);
    const { promise, resolve } = Promise.withResolvers<void>();
    void busy?.whileHeld(() => promise);
    void second.leasehold.stop();
    await fleet.clock.advance(1_000);
    expect([...first.devices].filter(({ isHeld }) => !isHeld).map(({ role }) => role)).toEqual([busy?.role]);
    resolve();
    await fleet.clock.advance(1_000);
    expect([...first.devices].every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('moves nothing to and fro when an instance comes back whose first answers are lost', async () => {
    const fleet = new Fleet();
    const store = memoryStore({ database: fleet.database });
    let network: 'well' | 'cut' | 'loses replies' = 'well';
    const lossy: LeaseStore = {
      ...store,
      heartbeat: async (request, call) => {
        const reply = network === 'cut' ? undefined : await store.heartbeat(request, call);
        return network === 'well' && reply !== undefined ? reply : new Promise(() => {});
      },
    };
    fleet.join({ count: 16 });
    const victim = fleet.join({ count: 16 }, { store: lossy });
    await fleet.clock.advance(8 * BEAT_MS);
    network = 'cut';
    await fleet.clock.advance(5 * BEAT_MS);
    network = 'loses replies';
    // It is seen, and roles are handed over to it.
    await fleet.clock.advance(3 * BEAT_MS);
    network = 'well';
    const begun: string[] = [];
    const channel = diagnosticChannels.get('leasehold:lease.acquired');
    const note = (message: unknown): void => {
      const { instance, role } = message as TermMessage;
      if (instance === victim.id) begun.push(role);
    };
    channel?.subscribe(note);
    onTestFinished(() => {
      channel?.unsubscribe(note);
    });
    await fleet.clock.advance(8 * BEAT_MS);
    expect(fleet.spread()).toEqual([8, 8]);
    expect(begun.toSorted()).toEqual([...new Set(begun)].toSorted());
  });
});
