import { createLeasehold, type Leasehold, type LeaseStore } from '@leasehold/core';
import { StartedLeasehold } from '@leasehold/core/adapter';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, onTestFinished, test } from 'vitest';

function heldAt(leasehold: Leasehold): boolean {
  return leasehold.get('maintenance').isHeld;
}

function create(store: LeaseStore = memoryStore()): Leasehold {
  const leasehold = createLeasehold({ store, startup: 'fail', releaseTimeout: 50 });
  leasehold.role('maintenance');
  return leasehold;
}

describe('a Leasehold that was not started', () => {
  test('is started and stopped', async () => {
    const leasehold = create();
    const started = new StartedLeasehold(leasehold);
    expect(started.isOurs).toBe(false);
    await started.start();
    expect([started.isOurs, heldAt(leasehold)]).toEqual([true, true]);
    await Promise.all([started.stop(), started.stop()]);
    expect(leasehold.get('maintenance').state).toBe('stopped');
  });

  test('is left alone by a stop that comes before', async () => {
    const leasehold = create();
    await new StartedLeasehold(leasehold).stop();
    await leasehold.start();
    onTestFinished(() => leasehold.stop());
    expect(heldAt(leasehold)).toBe(true);
  });

  test('holds nothing from the call of stop() on', async () => {
    const leasehold = create();
    const started = new StartedLeasehold(leasehold);
    await started.start();
    const stopped = started.stop();
    expect(heldAt(leasehold)).toBe(false);
    await stopped;
  });

  test('and does not start: the error is told once, and there is nothing to stop', async () => {
    const started = new StartedLeasehold(create({ ...memoryStore(), open: () => Promise.reject(new Error('down')) }));
    const failed = started.start();
    const stopped = started.stop();
    await expect(failed).rejects.toThrow('down');
    await stopped;
    await started.stop();
    expect(started.isOurs).toBe(false);
  });
});

test('a Leasehold that runs already is left running', async () => {
  const leasehold = create();
  await leasehold.start();
  onTestFinished(() => leasehold.stop());
  const started = new StartedLeasehold(leasehold);
  await started.start();
  await started.stop();
  expect([started.isOurs, heldAt(leasehold)]).toEqual([false, true]);
});

test('a stop that fails is told to whoever awaits it, and to nobody else', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const stop = (): Promise<void> => Promise.reject(new Error('no end'));
  const started = new StartedLeasehold({ start: async () => {}, stop });
  await started.start();
  void started.stop();
  await new Promise(setImmediate);
  await expect(started.stop()).rejects.toThrow('no end');
  expect(unhandled).toEqual([]);
});
