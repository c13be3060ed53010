import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { HeartbeatRequest } from '@leasehold/core';
import { assertHeldBy, LONG_LEASE_MS, type Member } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

export const lifecycleRules: readonly Rule[] = [
  rule('open may be called again', async (stage) => {
    const member = await stage.member('first');
    await member.open();
    await member.take(stage.role());
  }),

  rule('close may be called twice, and at once', async (stage) => {
    const { store } = await stage.member('first');
    await Promise.all([store.close(), store.close()]);
    await store.close();
  }),

  rule('a store that was never opened can be closed', async (stage) => {
    await stage.harness.createStore().close();
  }),

  rule('a closed store rejects, and gives no role back', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await first.store.close();
    await settled(stage, first.renew(term.role, term.fencingToken), 'rejected');
    await settled(stage, first.release(term.role, term.fencingToken), 'rejected');
    assertHeldBy(await second.observe(term.role), 'held', first);
  }),

  rule('a call whose signal has aborted settles, and the store serves the next', async (stage) => {
    const member = await stage.member('first');
    const signal = AbortSignal.abort(new Error('nobody waits any more'));
    await settled(stage, member.store.heartbeat(asking(member, stage.role()), { timeoutMs: 10_000, signal }));
    await settled(
      stage,
      member.store.release({ instance: member.instance, roles: [], leaving: false }, { timeoutMs: 10_000, signal }),
    );
    await member.take(stage.role('next'));
  }),

  rule('a call whose signal aborts on the way settles, and the store serves the next', async (stage) => {
    const member = await stage.member('first');
    for (const role of stage.roles(5)) {
      const controller = new AbortController();
      const call = member.store.heartbeat(asking(member, role), { timeoutMs: 10_000, signal: controller.signal });
      controller.abort(new Error('nobody waits any more'));
      await settled(stage, call);
      // Of the role itself the outcome is unknown, and may be for a while yet.
      await member.take(`${role}:next`);
    }
  }),
];

function asking({ instance }: Member, role: string): HeartbeatRequest {
  const acquire = [{ role, leaseMs: LONG_LEASE_MS, tokenFloor: 0n }];
  return { instance, instanceTtlMs: LONG_LEASE_MS, renew: [], acquire, observe: [] };
}

async function settled({ patienceMs }: Stage, call: Promise<unknown>, how?: 'rejected'): Promise<void> {
  const outcome = call.then(
    () => 'fulfilled',
    () => 'rejected',
  );
  const deadline = new AbortController();
  const late = wait(patienceMs, 'pending', { signal: deadline.signal }).catch(() => 'pending');
  const first = await Promise.race([outcome, late]);
  deadline.abort();
  assert.notEqual(first, 'pending', `the call settles within ${patienceMs} ms`);
  if (how !== undefined) assert.equal(first, how);
}
