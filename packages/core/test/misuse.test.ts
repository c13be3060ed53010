import { createLeasehold, type LeaseholdOptions, systemClock } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { manualClock } from '../../testing/src/manual-clock.ts';
import { heldLease, type ScriptedLease } from './support/scripted-lease.ts';

const invalid = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });

describe('what JavaScript lets through and TypeScript does not', () => {
  it.each<[string, string, (scripted: ScriptedLease) => unknown]>([
    ['role options', 'options', ({ leasehold }) => leasehold.role('x', null as never)],
    ['options of stepDown', 'options', ({ lease }) => lease.stepDown(null as never)],
    ['options of standAside', 'options', ({ leasehold }) => leasehold.standAside(null as never)],
    ['work of whileHeld', 'work', ({ lease }) => lease.whileHeld(undefined as never)],
    ['work of every', 'work', ({ lease }) => lease.every('1s', 'work' as never)],
    ['instance', 'instance', () => createLeasehold({ instance: null as never })],
  ])('%s', async (_, option, call) => {
    const scripted = await heldLease();
    await expect(async () => call(scripted)).rejects.toEqual(invalid(option));
    expect([scripted.lease.isHeld, scripted.leasehold.leases.size]).toEqual([true, 1]);
  });

  it.each(['open', 'heartbeat', 'release', 'fence', 'close'])('a store without %s', (method) => {
    const store = { ...memoryStore(), [method]: undefined } as unknown as LeaseholdOptions['store'];
    expect(() => createLeasehold({ store } as LeaseholdOptions)).toThrow(expect.objectContaining({ option: 'store' }));
  });

  it('a call timeout that no server takes', () => {
    expect(() => createLeasehold({ store: memoryStore(), callTimeout: '30d' })).toThrow(
      expect.objectContaining({ code: 'LEASEHOLD_INVALID_DURATION', option: 'callTimeout' }),
    );
  });
});

describe('one store for two instances', () => {
  it('is refused while the first runs, harms it not, and is free again after it', async () => {
    const clock = manualClock();
    const store = memoryStore({ database: new MemoryDatabase({ clock }) });
    const [first, second] = [createLeasehold({ store, clock }), createLeasehold({ store, clock })];
    const [lease, late] = [first.role('r'), second.role('r')];
    await first.start();
    await expect(second.start()).rejects.toEqual(invalid('store'));
    await clock.advance(60_000);
    expect([lease.fencingToken, late.isHeld]).toEqual([1n, false]);
    await first.stop();
    await second.start();
    expect(late.fencingToken).toBe(2n);
    await second.stop();
  });
});

describe('a timer longer than Node knows', () => {
  it('runs at its time, not after 24.8 days, and can be cancelled at any', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const day = 86_400_000;
    let ran = 0;
    systemClock.setTimer(() => (ran += 1), 60 * day);
    const cancelled = systemClock.setTimer(() => (ran += 1), 60 * day);
    await vi.advanceTimersByTimeAsync(59 * day);
    cancelled.cancel();
    expect(ran).toBe(0);
    await vi.advanceTimersByTimeAsync(day);
    expect(ran).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
