import { createLeasehold, type LeaseStore } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { expect, it } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';

it('retries at the pace of the role with the shortest interval, so that its term outlives an outage that it has time for', async () => {
  const clock = manualClock();
  const whole = memoryStore({ database: new MemoryDatabase({ clock }) });
  let down = false;
  const store: LeaseStore = {
    ...whole,
    heartbeat: (request, call) => (down ? Promise.reject(new Error('down')) : whole.heartbeat(request, call)),
  };
  const slow = { leaseDuration: '60s', renewInterval: '20s', safetyMargin: '5s' } as const;
  const leasehold = createLeasehold({ store, clock, random: () => 0.99, ...slow });
  const quick = leasehold.role('quick', { leaseDuration: '20s', renewInterval: '2s', safetyMargin: '1s' });
  await leasehold.start();
  let lost = false;
  void quick.whileHeld(({ signal }) => signal.addEventListener('abort', () => (lost = true)));
  // Its window is 19 s. Retries that double to half the interval of the slow roles would come at 14.4 s and then at 24.3 s.
  await clock.advance(1_000);
  down = true;
  await clock.advance(13_500);
  down = false;
  await clock.advance(5_000);
  expect(lost).toBe(false);
  await leasehold.stop();
});
