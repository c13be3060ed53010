import { expect, it } from 'vitest';
import { scriptedLease } from '../support/scripted-lease.ts';

it('a check that takes a second is not ill because the store is away, and heartbeats come many in a second', async () => {
  let asked = 0;
  const scripted = scriptedLease({
    role: {
      healthCheck: () => {
        asked += 1;
        return new Promise((resolve) => scripted.clock.setTimer(() => resolve(true), 1_000));
      },
    },
  });
  const { clock, store, leasehold, lease, lost } = scripted;
  await leasehold.start();
  await clock.advance(0);
  store.grant(1n);
  await clock.advance(5_000);
  for (const pauseMs of [60, 110, 210, 410]) {
    store.pending.fail(new Error('ECONNREFUSED'));
    await clock.advance(pauseMs);
  }
  expect([store.heartbeats.length, asked]).toEqual([6, 2]);
  store.grant(1n);
  await clock.advance(5_000);
  expect([lease.isHeld, lost, asked]).toEqual([true, [], 3]);
});
