import assert from 'node:assert/strict';
import { assertHeldBy, newCall } from './member.ts';
import { rule, type Rule } from './stage.ts';

export const releaseRules: readonly Rule[] = [
  rule('release leaves a vacant row that keeps its token', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    assert.equal(await first.release(term.role, term.fencingToken), 'released');
    assert.deepEqual(await second.observe(term.role), {
      role: term.role,
      outcome: 'vacant',
      holder: null,
      holderAddress: null,
      fencingToken: term.fencingToken,
      remainingMs: 0,
    });
  }),

  rule('tokens rise through any number of releases', async (stage) => {
    const [first, second] = await stage.pair();
    const role = stage.role();
    const tokens: bigint[] = [];
    for (const member of [first, second, first, first, second]) {
      const { fencingToken } = await member.take(role);
      tokens.push(fencingToken);
      assert.equal(await member.release(role, fencingToken), 'released');
    }
    const rising = [...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(tokens, rising);
  }),

  rule('release of a term that another has taken over says not-held, and harms nothing', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.outlast();
    const next = await second.take(term.role);
    assert.equal(await first.release(term.role, term.fencingToken), 'not-held');
    assert.equal(await first.release(term.role, next.fencingToken), 'not-held');
    assert.equal(await first.release(term.role, null), 'not-held');
    assertHeldBy(await second.renew(term.role, next.fencingToken), 'renewed', second);
  }),

  rule('release of an earlier term of the same instance says not-held, and leaves the later one', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    const later = await member.take(term.role);
    assert.equal(await member.release(term.role, term.fencingToken), 'not-held');
    assertHeldBy(await member.renew(term.role, later.fencingToken), 'renewed', member);
  }),

  rule('release of what was released before, or never existed, says not-held', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await member.release(term.role, term.fencingToken);
    assert.equal(await member.release(term.role, term.fencingToken), 'not-held');
    assert.equal(await member.release(term.role, null), 'not-held');
    assert.equal(await member.release(stage.role('never'), null), 'not-held');
    assert.equal((await member.observe(stage.role('never'))).outcome, 'missing');
  }),

  rule('release without a token gives back whatever term this instance has', async (stage) => {
    const [first, second] = await stage.pair();
    const { role, fencingToken } = await first.take(stage.role());
    assert.equal(await second.release(role, null), 'not-held');
    assert.equal(await first.release(role, null), 'released');
    assert.ok((await second.take(role)).fencingToken > fencingToken);
  }),

  rule('release tells of each role apart', async (stage) => {
    const [first, second] = await stage.pair();
    const mine = await first.take(stage.role('mine'));
    const theirs = await second.take(stage.role('theirs'));
    const unknown = await first.take(stage.role('unknown'));
    const outcomes = await first.releaseAll([
      { role: mine.role, fencingToken: mine.fencingToken },
      { role: theirs.role, fencingToken: theirs.fencingToken },
      { role: unknown.role, fencingToken: null },
    ]);
    assert.deepEqual(
      [...outcomes].sort(),
      [
        [mine.role, 'released'],
        [theirs.role, 'not-held'],
        [unknown.role, 'released'],
      ].sort(),
    );
  }),

  rule('an instance that leaves may release nothing', async (stage) => {
    const member = await stage.member('first');
    const { roles } = await member.store.release({ instance: member.instance, roles: [], leaving: true }, newCall());
    assert.equal(roles.size, 0);
  }),
];
