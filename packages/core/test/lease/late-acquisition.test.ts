import { describe, expect, it } from 'vitest';
import { heldLease, scriptedLease, type ScriptedLease } from '../support/scripted-lease.ts';
import { reportHeld } from '../support/scripted-store.ts';

/** Stops, answering each release with the next of `outcomes`; the answer is what was to be released, in order. */
async function stopWith({ leasehold, store, clock }: ScriptedLease, outcomes: ('released' | 'not-held')[]): Promise<unknown[]> {
  const stopped = leasehold.stop();
  for (const outcome of outcomes) {
    await clock.advance(0);
    store.releases.at(-1)?.answer({ roles: new Map([['r', outcome]]) });
  }
  await Promise.all([stopped, clock.advance(0)]);
  return store.releases.map(({ request }) => request.roles);
}

describe('an acquisition that was given up and takes effect later names this instance under a token that it does not know', () => {
  it('is given back by name on stop, when the known token turns out not to hold', async () => {
    const released = await stopWith(await heldLease(), ['not-held', 'released']);
    expect(released).toEqual([[{ role: 'r', fencingToken: 1n }], [{ role: 'r', fencingToken: null }]]);
  });

  it('is given back by name on stop, when a renewal was told of it', async () => {
    const scripted = await heldLease();
    const { clock, store, leasehold, lease } = scripted;
    await clock.advance(5_000);
    const by = { holder: leasehold.instance.id, holderAddress: null, remainingMs: 15_000 };
    store.pending.answer({ roles: [{ role: 'r', outcome: 'held', fencingToken: 2n, ...by }] });
    await clock.advance(0);
    expect(lease.isHeld).toBe(false);
    expect(await stopWith(scripted, ['released'])).toEqual([[{ role: 'r', fencingToken: null }]]);
  });

  it('is given back by name on stop, when a later heartbeat saw another holder', async () => {
    const scripted = scriptedLease();
    const { clock, store, leasehold } = scripted;
    await leasehold.start();
    await clock.advance(5_000);
    store.pending.answer({ roles: [reportHeld('r', 3n, 15_000)] });
    await clock.advance(0);
    expect(await stopWith(scripted, ['released'])).toEqual([[{ role: 'r', fencingToken: null }]]);
  });
});
