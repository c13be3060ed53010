import assert from 'node:assert/strict';
import { assertHeldBy, LONG_LEASE_MS } from './member.ts';
import { rule, type Rule } from './stage.ts';

export const acquisitionRules: readonly Rule[] = [
  rule('acquire creates a row that does not exist, with a token over 0', async (stage) => {
    const member = await stage.member('first');
    const report = await member.acquire(stage.role());
    assertHeldBy(report, 'acquired', member);
    assert.ok(report.fencingToken > 0n);
    assert.ok(report.remainingMs <= LONG_LEASE_MS);
  }),

  rule('acquire takes a vacant row and raises the token', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    await first.release(term.role, term.fencingToken);
    const report = await second.acquire(term.role);
    assertHeldBy(report, 'acquired', second);
    assert.ok(report.fencingToken > term.fencingToken);
  }),

  rule('acquire takes a row that has run out and raises the token', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: stage.shortLeaseMs });
    await stage.outlast();
    const report = await second.acquire(term.role);
    assertHeldBy(report, 'acquired', second);
    assert.ok(report.fencingToken > term.fencingToken);
  }),

  rule("acquire takes this instance's own row, raises the token and so ends the term before", async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role());
    const again = await member.take(term.role);
    assert.ok(again.fencingToken > term.fencingToken);
    assertHeldBy(await member.renew(term.role, term.fencingToken), 'held', member);
    assertHeldBy(await member.renew(term.role, again.fencingToken), 'renewed', member);
  }),

  rule('acquire leaves a live row of another instance as it is', async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role());
    const report = await second.acquire(term.role);
    assertHeldBy(report, 'held', first);
    assert.equal(report.fencingToken, term.fencingToken);
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
  }),

  rule("the holder's own lease duration counts, not that of a candidate", async (stage) => {
    const [first, second] = await stage.pair();
    const term = await first.take(stage.role(), { leaseMs: LONG_LEASE_MS });
    await stage.outlast();
    assertHeldBy(await second.acquire(term.role, { leaseMs: stage.shortLeaseMs }), 'held', first);
  }),

  rule('a new lease duration counts from the acquisition that brings it', async (stage) => {
    const member = await stage.member('first');
    const term = await member.take(stage.role(), { leaseMs: LONG_LEASE_MS });
    const shorter = await member.acquire(term.role, { leaseMs: stage.shortLeaseMs });
    assert.ok(shorter.remainingMs <= stage.shortLeaseMs);
  }),

  rule('another instance with the same label is another holder', async (stage) => {
    const before = await stage.member('same');
    const term = await before.take(stage.role());
    const after = await stage.member('same');
    assertHeldBy(await after.acquire(term.role), 'held', before);
    assertHeldBy(await after.renew(term.role, term.fencingToken), 'held', before);
  }),
];

export const tokenRules: readonly Rule[] = [
  rule('a new row starts above the floor', async (stage) => {
    const member = await stage.member('first');
    const { fencingToken } = await member.take(stage.role(), { tokenFloor: 41n });
    assert.ok(fencingToken > 41n, `${fencingToken} is over the floor`);
  }),

  rule('a token rises above the floor and above the row, whichever is higher', async (stage) => {
    const member = await stage.member('first');
    const role = stage.role();
    const high = await member.take(role, { tokenFloor: 1_000n });
    const low = await member.take(role, { tokenFloor: 1n });
    assert.ok(low.fencingToken > high.fencingToken);
    const higher = await member.take(role, { tokenFloor: low.fencingToken + 500n });
    assert.ok(higher.fencingToken > low.fencingToken + 500n);
  }),

  rule('tokens beyond 2^53 stay exact', async (stage) => {
    const [first, second] = await stage.pair();
    // The next one, 2^53 + 1, is the first that a double cannot hold.
    const floor = 2n ** 53n;
    const term = await first.take(stage.role(), { tokenFloor: floor });
    assert.ok(term.fencingToken > floor);
    assert.equal((await second.observe(term.role)).fencingToken, term.fencingToken);
    assert.equal((await first.renew(term.role, term.fencingToken - 1n)).outcome, 'held');
    assertHeldBy(await first.renew(term.role, term.fencingToken), 'renewed', first);
  }),
];
