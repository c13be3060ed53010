import assert from 'node:assert/strict';
import { LONG_LEASE_MS, type Member } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

const ROUNDS = 10;
const ROLES = 40;

export const raceRules: readonly Rule[] = [
  rule('of stores that race for the same roles, exactly one wins each', async (stage) => {
    const members = [await stage.member('first'), await stage.member('second'), await stage.member('third')];
    const roles = stage.roles(ROLES);
    const highest = new Map<string, bigint>();
    // The first round races for rows that do not exist yet, the others for rows that were given back.
    for (let round = 0; round < ROUNDS; round += 1) await raceOnce(members, roles, highest);
  }),

  rule('a renewal and a takeover at the moment of expiry never both succeed', async (stage) => {
    const [first, second] = await stage.pair();
    for (let round = 0; round < ROUNDS; round += 1) await raceAtExpiry(stage, first, second);
  }),
];

async function raceOnce(members: readonly Member[], roles: readonly string[], highest: Map<string, bigint>): Promise<void> {
  const acquire = roles.map((role) => ({ role, leaseMs: LONG_LEASE_MS, tokenFloor: 0n }));
  // Half of them in the opposite order: locks taken in the order asked for would deadlock.
  const replies = await Promise.all(
    members.map((member, index) => member.beat({ acquire: index % 2 === 0 ? acquire : acquire.toReversed() })),
  );
  for (const role of roles) {
    const outcomes = replies.map((reports) => reports.get(role)?.outcome);
    assert.equal(outcomes.filter((outcome) => outcome === 'acquired').length, 1, `${role}: ${outcomes.join(', ')}`);
  }
  await Promise.all(
    members.map(async (member, index) => {
      const won = [...(replies[index]?.values() ?? [])].filter(({ outcome }) => outcome === 'acquired');
      for (const { role, fencingToken } of won) {
        assert.ok(fencingToken > (highest.get(role) ?? 0n), `${role}: token ${fencingToken} has risen`);
        highest.set(role, fencingToken);
      }
      const released = await member.releaseAll(won.map(({ role, fencingToken }) => ({ role, fencingToken })));
      assert.ok([...released.values()].every((outcome) => outcome === 'released'));
    }),
  );
}

async function raceAtExpiry(stage: Stage, first: Member, second: Member): Promise<void> {
  const leaseMs = Math.min(stage.shortLeaseMs, 100);
  const term = await first.take(stage.role(), { leaseMs });
  await stage.harness.advance(leaseMs);
  const [renewal, takeover] = await Promise.all([first.renew(term.role, term.fencingToken), second.acquire(term.role)]);
  const winners = [renewal.outcome === 'renewed', takeover.outcome === 'acquired'].filter(Boolean);
  assert.ok(winners.length <= 1, `${renewal.outcome} and ${takeover.outcome}`);
  await first.release(term.role, null);
  await second.release(term.role, null);
}
