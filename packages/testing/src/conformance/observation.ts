import assert from 'node:assert/strict';
import { assertHeldBy } from './member.ts';
import { rule, type Rule } from './stage.ts';

export const observationRules: readonly Rule[] = [
  rule('observe tells of a live lease, and prolongs nothing', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.harness.advance(stage.shortLeaseMs / 4);
    for (const observer of [first, second]) {
      const report = await observer.observe(term.role);
      assertHeldBy(report, 'held', first);
      assert.equal(report.fencingToken, term.fencingToken);
      assert.ok(report.remainingMs < stage.shortLeaseMs);
    }
    await stage.outlast();
    assert.equal((await first.observe(term.role)).outcome, 'vacant');
  }),

  rule('observe neither creates a row nor takes a vacant one', async (stage) => {
    const [first, second] = await stage.pair();
    const role = stage.role();
    assert.equal((await second.observe(role)).outcome, 'missing');
    assert.equal((await second.observe(role)).outcome, 'missing');
    const term = await first.take(role);
    await first.release(role, term.fencingToken);
    assert.equal((await second.observe(role)).outcome, 'vacant');
    const report = await second.observe(role);
    assert.equal(report.outcome, 'vacant');
    assert.equal(report.fencingToken, term.fencingToken);
  }),

  rule('a new address shows with the next renewal', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    first.instance = { ...first.instance, address: 'https://moved.test:8443' };
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
    assertHeldBy(await second.observe(term.role), 'held', first);
    assertHeldBy(await second.acquire(term.role), 'held', first);
  }),

  rule('an instance may have no address, and get one with an acquisition', async (stage) => {
    const first = await stage.member('first', null);
    const second = await stage.member('second');
    const term = await first.take(stage.role());
    assertHeldBy(await second.observe(term.role), 'held', first);
    first.instance = { ...first.instance, address: 'http://first.test:80' };
    await first.take(term.role);
    assertHeldBy(await second.observe(term.role), 'held', first);
  }),
];
