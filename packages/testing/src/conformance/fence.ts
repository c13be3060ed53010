import assert from 'node:assert/strict';
import { isLeaseholdError, type TermIdentity } from '@leasehold/core';
import { assertHeldBy, type Member } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

export const fenceRules: readonly Rule[] = [
  rule('the fence passes for the current term, any number of times', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.harness.transaction(async (client) => {
      await member.store.fence(client, term);
      await member.store.fence(client, term);
    });
    await stage.harness.transaction((client) => member.store.fence(client, term));
  }),

  rule('the fence passes after a renewal', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await member.renew(term.role, term.fencingToken);
    await stage.harness.transaction((client) => member.store.fence(client, term));
  }),

  rule('the fence refuses a term that was superseded, by whomever', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    const again = await first.take(term.role);
    await assertFenced(stage, first, term);
    await first.release(again.role, again.fencingToken);
    const next = await second.take(term.role);
    await assertFenced(stage, first, again);
    // Right token, wrong holder.
    await assertFenced(stage, first, { ...again, fencingToken: next.fencingToken });
  }),

  rule('the fence refuses a term that has run out, though nobody has taken over', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.outlast();
    await assertFenced(stage, member, term);
  }),

  rule('the fence refuses a term that was released', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await member.release(term.role, term.fencingToken);
    await assertFenced(stage, member, term);
  }),

  rule('the fence refuses a term of a role that has no row', async (stage) => {
    const member = await stage.member('first');
    await assertFenced(stage, member, { role: stage.role(), holder: member.id, fencingToken: 1n });
  }),
];

async function assertFenced({ harness }: Stage, member: Member, term: TermIdentity): Promise<void> {
  const fenced = harness.transaction((client) => member.store.fence(client, term));
  await assert.rejects(fenced, (error) => isLeaseholdError(error, 'LEASEHOLD_FENCED'));
}

export const openFenceRules: readonly Rule[] = [
  rule('while a fenced transaction is open, renewals of the term pass', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.harness.transaction(async (client) => {
      await member.store.fence(client, term);
      assertHeldBy(await member.renew(term.role, term.fencingToken), 'renewed', member);
    });
    assertHeldBy(await member.renew(term.role, term.fencingToken), 'renewed', member);
  }),

  rule('while a fenced transaction is open, a lease that has run out is not taken over', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.harness.transaction(async (client) => {
      await first.store.fence(client, term);
      await stage.outlast();
      assert.equal((await second.acquire(term.role)).outcome, 'busy');
    });
    assert.ok((await second.take(term.role)).fencingToken > term.fencingToken);
  }),

  rule('while a fenced transaction is open, a role that was released is not taken over', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await stage.harness.transaction(async (client) => {
      await first.store.fence(client, term);
      assert.equal(await first.release(term.role, term.fencingToken), 'released');
      assert.equal((await second.acquire(term.role)).outcome, 'busy');
    });
    await second.take(term.role);
  }),

  rule('while a fenced transaction is open, its own instance cannot start a new term either', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    await stage.harness.transaction(async (client) => {
      await member.store.fence(client, term);
      assert.equal((await member.acquire(term.role)).outcome, 'busy');
      assertHeldBy(await member.renew(term.role, term.fencingToken), 'renewed', member);
    });
    await member.take(term.role);
  }),

  rule('a fenced transaction holds up no other role', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role('fenced'));
    const roles = stage.roles(10);
    await stage.harness.transaction(async (client) => {
      await first.store.fence(client, term);
      await first.release(term.role, term.fencingToken);
      const acquire = [term.role, ...roles].map((role) => ({ role, leaseMs: 60_000, tokenFloor: 0n }));
      const reports = await second.beat({ acquire });
      const outcomes = acquire.map(({ role }) => reports.get(role)?.outcome);
      assert.deepEqual(outcomes, ['busy', ...roles.map(() => 'acquired')]);
    });
  }),

  rule('two fenced transactions of one term hold it until both have ended', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await stage.harness.transaction(async (outer) => {
      await first.store.fence(outer, term);
      await stage.harness.transaction((inner) => first.store.fence(inner, term));
      await first.release(term.role, term.fencingToken);
      assert.equal((await second.acquire(term.role)).outcome, 'busy');
    });
    await second.take(term.role);
  }),

  rule('a fence ends with a rollback too', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    const failed = stage.harness.transaction(async (client) => {
      await first.store.fence(client, term);
      throw new Error('rolled back on purpose');
    });
    await assert.rejects(failed, /rolled back on purpose/);
    await first.release(term.role, term.fencingToken);
    await second.take(term.role);
  }),
];
