import assert from 'node:assert/strict';
import { assertHeldBy, LONG_LEASE_MS } from './member.ts';
import { rule, type Rule } from './stage.ts';

export const deletionRules: readonly Rule[] = [
  rule('renew and release do not bring back a row that somebody deleted', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.deleteRow(term.role);
    assert.equal((await member.renew(term.role, term.fencingToken)).outcome, 'missing');
    assert.equal(await member.release(term.role, term.fencingToken), 'not-held');
    assert.equal((await member.observe(term.role)).outcome, 'missing');
  }),

  rule('a row that somebody deleted comes back above the floor', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { tokenFloor: 20n });
    await stage.deleteRow(term.role);
    const next = await second.take(term.role, { tokenFloor: term.fencingToken });
    assert.ok(next.fencingToken > term.fencingToken);
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'held', second);
  }),

  rule('the fence refuses a term whose row somebody deleted', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.deleteRow(term.role);
    const fenced = stage.harness.transaction((client) => member.store.fence(client, term));
    await assert.rejects(fenced, { code: 'LEASEHOLD_FENCED' });
  }),
];

export const durationRules: readonly Rule[] = [
  // Its reply may be lost: the holder would go on to believe what the reply before it allowed.
  rule('renew never shortens what is left of a lease, though somebody shortened its duration', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await stage.changeLease(term.role, 1);
    const renewed = await first.renew(term.role, term.fencingToken);
    assertHeldBy(renewed, 'renewed', first);
    await stage.outlast();
    assertHeldBy(await second.acquire(term.role), 'held', first);
    assert.ok(renewed.remainingMs <= LONG_LEASE_MS);
  }),

  rule('a new term has the duration that it asks for, whatever the row had', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await stage.changeLease(term.role, 1);
    await first.release(term.role, term.fencingToken);
    const next = await second.take(term.role);
    await stage.outlast();
    assertHeldBy(await second.renew(term.role, next.fencingToken), 'renewed', second);
  }),
];

export const lockRules: readonly Rule[] = [
  rule('a locked row is busy, waited for by nobody, and holds up no other', async (stage) => {
    const [first, second] = await stage.pair();
    const kept = await first.take(stage.role('kept'));
    const locked = await first.take(stage.role('locked'));
    await stage.lockRow(locked.role, async () => {
      const renewed = await first.beat({ renew: [kept, locked] });
      assert.equal(renewed.get(kept.role)?.outcome, 'renewed');
      assert.equal(renewed.get(locked.role)?.outcome, 'busy');
      assertHeldBy(await second.acquire(locked.role), 'held', first);
      assertHeldBy(await second.observe(locked.role), 'held', first);
    });
    assertHeldBy(await first.renew(locked.role, locked.fencingToken), 'renewed', first);
  }),

  rule('a vacant row that is locked is busy, and free again afterwards', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await first.release(term.role, term.fencingToken);
    await stage.lockRow(term.role, async () => {
      const acquire = [term.role, stage.role('free')].map((role) => ({ role, leaseMs: LONG_LEASE_MS, tokenFloor: 0n }));
      const reports = await second.beat({ acquire });
      assert.deepEqual(
        acquire.map(({ role }) => reports.get(role)?.outcome),
        ['busy', 'acquired'],
      );
    });
    await second.take(term.role);
  }),

  rule('release of a locked row says unknown, and can be tried again', async (stage) => {
    const [first, second] = await stage.pair();
    const locked = await first.take(stage.role('locked'));
    const free = await first.take(stage.role('free'));
    await stage.lockRow(locked.role, async () => {
      const outcomes = await first.releaseAll([locked, free]);
      assert.deepEqual([outcomes.get(locked.role), outcomes.get(free.role)], ['unknown', 'released']);
      assert.equal(await second.release(locked.role, null), 'not-held');
    });
    assert.equal(await first.release(locked.role, locked.fencingToken), 'released');
  }),
];
