import assert from 'node:assert/strict';
import { assertHeldBy, LONG_LEASE_MS } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

const wanted = (role: string) => ({ role, leaseMs: LONG_LEASE_MS, tokenFloor: 0n });

export const batchRules: readonly Rule[] = [
  rule('a heartbeat may ask for nothing', async (stage) => {
    assert.equal((await (await stage.member('first')).beat({})).size, 0);
  }),

  rule('one heartbeat tells of many roles, each by itself', playMixedHeartbeat),

  rule('1,000 roles in one heartbeat', async (stage) => {
    const [first, second] = await stage.pair();
    const roles = stage.roles(1_000);
    const taken = await first.beat({ acquire: roles.map(wanted) });
    const terms = roles.map((role) => ({ role, fencingToken: taken.get(role)?.fencingToken ?? 0n }));
    const outcomes = [
      taken,
      await first.beat({ renew: terms }),
      await second.beat({ acquire: roles.map(wanted) }),
      await second.beat({ observe: roles }),
    ].map(outcomesOf);
    assert.deepEqual(outcomes, [['acquired'], ['renewed'], ['held'], ['held']]);
    const released = await first.releaseAll(terms);
    assert.equal(released.size, 1_000);
    assert.deepEqual([...new Set(released.values())], ['released']);
    assert.deepEqual(outcomesOf(await second.beat({ acquire: roles.map(wanted) })), ['acquired']);
  }),
];

function outcomesOf(reports: ReadonlyMap<string, { readonly outcome: string }>): string[] {
  return [...new Set([...reports.values()].map(({ outcome }) => outcome))];
}

async function playMixedHeartbeat(stage: Stage): Promise<void> {
  const [first, second] = await stage.pair();
  const name = (role: string): string => stage.role(role);
  const kept = await first.take(name('kept'));
  const stale = await first.take(name('stale'));
  await first.take(name('stale'));
  for (const role of ['theirs', 'wanted by both', 'watched']) await second.take(name(role));
  const left = await second.take(name('left'));
  await second.release(left.role, left.fencingToken);
  const reports = await first.beat({
    renew: [kept, stale, { role: name('theirs'), fencingToken: 1n }, { role: name('never'), fencingToken: 1n }],
    acquire: [name('left'), name('wanted by both'), name('new')].map(wanted),
    observe: [name('watched'), name('unknown')],
  });
  const outcomes = [...reports].map(([role, { outcome }]) => [role, outcome]);
  const expected = {
    kept: 'renewed',
    stale: 'held',
    theirs: 'held',
    never: 'missing',
    left: 'acquired',
    'wanted by both': 'held',
    new: 'acquired',
    watched: 'held',
    unknown: 'missing',
  };
  assert.deepEqual(
    Object.fromEntries(outcomes),
    Object.fromEntries(Object.entries(expected).map(([role, outcome]) => [name(role), outcome])),
  );
}

/** Names that break hand-made quoting, array literals, JSON, and lengths counted in bytes or UTF-16 units. */
const ODD_ROLES: readonly string[] = [
  'r'.repeat(128),
  '\u{1f512}'.repeat(128),
  'NULL',
  'null',
  ' padded ',
  '""',
  `it's "quoted"`,
  '{a,b}',
  '{}',
  ',',
  '\\',
  '\\N',
  'back\\slash \\" and "\\',
  '$1',
  '%s %I',
  "'; drop table role_lease; --",
  'devices:partition-7',
  'Ünïcödé \u0130 \u00df \u200d\u{1f469}\u200d\u{1f680}',
  // The same letter twice to the eye, and two names to the store.
  'e\u0301',
  '\u00e9',
  'Case',
  'case',
];

export const nameRules: readonly Rule[] = [
  rule('role names are kept as they are: quotes, braces, backslashes, emoji, 128 characters', async (stage) => {
    const [first, second] = await stage.pair();
    const before = await first.beat({ observe: ODD_ROLES });
    const taken = await first.beat({ acquire: ODD_ROLES.map(wanted) });
    const terms = ODD_ROLES.map((role) => ({ role, fencingToken: taken.get(role)?.fencingToken ?? 0n }));
    try {
      for (const report of taken.values()) {
        assertHeldBy(report, 'acquired', first);
        assert.ok(report.fencingToken > (before.get(report.role)?.fencingToken ?? 0n));
      }
      assert.deepEqual(outcomesOf(await first.beat({ renew: terms })), ['renewed']);
      assert.deepEqual(outcomesOf(await second.beat({ observe: ODD_ROLES })), ['held']);
    } finally {
      const released = await first.releaseAll(terms);
      assert.deepEqual([...released].sort(), ODD_ROLES.map((role) => [role, 'released']).sort());
    }
  }),

  rule('ids, labels and addresses are kept as they are', async (stage) => {
    const first = await stage.member(`{"odd\\',NULL}\u{1f512}`, `http://[::1]:8080`);
    const second = await stage.member('second');
    const term = await first.take(stage.role());
    assertHeldBy(await second.observe(term.role), 'held', first);
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
  }),
];
