import assert from 'node:assert/strict';
import { assertHeldBy, LONG_LEASE_MS } from './member.ts';
import { rule, type Rule } from './stage.ts';

export const renewalRules: readonly Rule[] = [
  rule('renew extends the term by the duration of its acquisition, and keeps the token', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.outlast();
    const before = await member.observe(term.role);
    const renewed = await member.renew(term.role, term.fencingToken);
    assertHeldBy(renewed, 'renewed', member);
    assert.equal(renewed.fencingToken, term.fencingToken);
    assert.ok(renewed.remainingMs > before.remainingMs, `${renewed.remainingMs} ms is more than ${before.remainingMs} ms`);
    assert.ok(renewed.remainingMs <= LONG_LEASE_MS);
  }),

  rule('renew keeps a term alive past its first duration', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    for (let third = 0; third < 4; third += 1) {
      await stage.harness.advance(stage.shortLeaseMs / 3);
      assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
    }
    assertHeldBy(await second.acquire(term.role), 'held', first);
  }),

  rule('renew needs the holder', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    const report = await second.renew(term.role, term.fencingToken);
    assertHeldBy(report, 'held', first);
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
  }),

  rule('renew needs the token', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role(), { tokenFloor: 10n });
    for (const wrong of [term.fencingToken - 1n, term.fencingToken + 1n, 0n]) {
      const report = await member.renew(term.role, wrong);
      assertHeldBy(report, 'held', member);
      assert.equal(report.fencingToken, term.fencingToken);
    }
  }),

  rule('renew needs the role', async (stage) => {
    const [first, second] = await stage.pair();
    const mine = await first.take(stage.role('mine'), { tokenFloor: 6n });
    const theirs = await second.take(stage.role('theirs'), { tokenFloor: 6n });
    assert.equal(mine.fencingToken, theirs.fencingToken);
    assertHeldBy(await first.renew(theirs.role, mine.fencingToken), 'held', second);
  }),

  rule('renew does not revive a term that has run out', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.outlast();
    for (const report of [await member.renew(term.role, term.fencingToken), await member.observe(term.role)]) {
      assert.equal(report.outcome, 'vacant');
      assert.equal(report.remainingMs, 0);
    }
  }),

  rule('renew does not take back what another has taken', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.outlast();
    const next = await second.take(term.role);
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'held', second);
    assertHeldBy(await second.renew(term.role, next.fencingToken), 'renewed', second);
  }),

  rule('renew does not take back what was released', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await member.release(term.role, term.fencingToken);
    assert.equal((await member.renew(term.role, term.fencingToken)).outcome, 'vacant');
    assert.equal((await member.observe(term.role)).outcome, 'vacant');
  }),

  rule('renew does not create a row', async (stage) => {
    const member = await stage.member('first');
    const role = stage.role();
    assert.equal((await member.renew(role, 1n)).outcome, 'missing');
    assert.equal((await member.observe(role)).outcome, 'missing');
  }),
];
