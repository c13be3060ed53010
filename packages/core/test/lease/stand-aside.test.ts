import { describe, expect, it } from 'vitest';
import { heldLease, scriptedLease, type ScriptedLease } from '../support/scripted-lease.ts';

async function asideFor(duration?: '30s'): Promise<ScriptedLease> {
  const scripted = await heldLease();
  const { leasehold, store, clock } = scripted;
  store.releaseOutcome = 'released';
  const outcomes = leasehold.standAside(duration === undefined ? {} : { for: duration });
  await clock.advance(0);
  expect(await outcomes).toEqual(new Map([['r', 'released']]));
  return scripted;
}

describe('a role registered while the instance stands aside', () => {
  it('stands aside too, until told', async () => {
    const { leasehold, store, clock } = await asideFor();
    leasehold.role('late');
    await clock.advance(20);
    expect(store.pending.request).toMatchObject({ acquire: [], observe: ['late'] });
    store.grant(1n);
    await clock.advance(60_000);
    store.grant(1n);
    leasehold.compete();
    await clock.advance(20);
    expect(store.pending.request.acquire.map(({ role }) => role)).toEqual(['r', 'late']);
    leasehold.role('later');
    store.grant(2n);
    await clock.advance(20);
    expect(store.pending.request.acquire.map(({ role }) => role)).toEqual(['later']);
  });

  it('stands aside for what is left of the time', async () => {
    const { leasehold, store, clock } = await asideFor('30s');
    store.grant(1n);
    await clock.advance(20_000);
    store.grant(1n);
    leasehold.role('late');
    for (let second = 20; second < 29; second += 1) {
      await clock.advance(1_000);
      expect(store.pending.request.acquire).toEqual([]);
      store.grant(1n);
    }
    await clock.advance(6_000);
    expect(store.pending.request.acquire.map(({ role }) => role)).toContain('late');
  });
});

it('a wrong duration is refused, also without any role', async () => {
  const { leasehold } = scriptedLease();
  await expect(leasehold.standAside({ for: 'soon' as never })).rejects.toMatchObject({
    code: 'LEASEHOLD_INVALID_DURATION',
    option: 'for',
  });
});
