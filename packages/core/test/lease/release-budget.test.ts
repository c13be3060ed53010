import { expect, it } from 'vitest';
import { heldLease } from '../support/scripted-lease.ts';

it('a release that hangs, on a connection that died unnoticed, leaves time for another on a new one', async () => {
  const { clock, store, leasehold } = await heldLease({ releaseTimeout: '2s' });
  const stopped = leasehold.stop();
  await clock.advance(0);
  expect(store.releases[0]?.call.timeoutMs).toBe(1_000);
  await clock.advance(1_050);
  expect(store.releases).toHaveLength(2);
  store.releases[1]?.answer({ roles: new Map([['r', 'released']]) });
  await clock.advance(0);
  expect(store.releases[2]?.request).toMatchObject({ roles: [], leaving: true });
  store.releases[2]?.answer({ roles: new Map() });
  await Promise.all([stopped, clock.advance(0)]);
});
