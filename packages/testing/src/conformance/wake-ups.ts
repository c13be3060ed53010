import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Member } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

export const wakeUpRules: readonly Rule[] = [
  rule('an acquisition wakes the others, and not its sender', async (stage) => {
    const [first, second] = await stage.pair();
    const role = stage.role();
    await first.take(role);
    await wokenFor(stage, second, role);
    assert.deepEqual(
      first.wakeUps.filter((roles) => names(roles, role)),
      [],
    );
  }),

  rule('a release wakes the others, and not its sender', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await wokenFor(stage, second, term.role);
    second.wakeUps.length = 0;
    await first.release(term.role, term.fencingToken);
    await wokenFor(stage, second, term.role);
    assert.deepEqual(
      first.wakeUps.filter((roles) => names(roles, term.role)),
      [],
    );
  }),

  rule('a renewal that brings another address wakes the others', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await wokenFor(stage, second, term.role);
    second.wakeUps.length = 0;
    first.instance = { ...first.instance, address: 'http://moved.test:8080' };
    await first.renew(term.role, term.fencingToken);
    await wokenFor(stage, second, term.role);
  }),

  rule('what is too much to be named wakes the others all the same', async (stage) => {
    const [first, second] = await stage.pair();
    const roles = stage.roles(1_000);
    const reports = await first.beat({ acquire: roles.map((role) => ({ role, leaseMs: 60_000, tokenFloor: 0n })) });
    await wokenFor(stage, second, roles[0] ?? '');
    await wokenFor(stage, second, roles[999] ?? '');
    await first.releaseAll([...reports.values()]);
  }),

  rule('renewals and observations wake nobody', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await wokenFor(stage, second, term.role);
    second.wakeUps.length = 0;
    await first.renew(term.role, term.fencingToken);
    await first.observe(term.role);
    // Wake-ups arrive in order: one of the renewal would be there before that of this acquisition.
    const later = await first.take(stage.role('later'));
    await wokenFor(stage, second, later.role);
    assert.deepEqual(
      second.wakeUps.filter((roles) => names(roles, term.role) && !names(roles, later.role)),
      [],
    );
  }),
];

const POLL_MS = 5;

async function wokenFor({ patienceMs }: Stage, member: Member, role: string): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  while (!member.wakeUps.some((roles) => names(roles, role))) {
    assert.ok(performance.now() < endsAt, `a wake-up for ${role} arrives within ${patienceMs} ms`);
    await wait(POLL_MS);
  }
}

function names(roles: readonly string[] | 'all', role: string): boolean {
  return roles === 'all' || roles.includes(role);
}
