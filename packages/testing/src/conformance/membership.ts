import assert from 'node:assert/strict';
import type { AcquireRequest, HeartbeatReply, Member as ToldMember, Membership } from '@leasehold/core';
import { assertHeldBy, type Beat, LONG_LEASE_MS, type Member } from './member.ts';
import { rule, type Rule, type Stage } from './stage.ts';

let sequence = 0;

/** What the next heartbeat declares. */
function declaring(partitions: Record<string, number>, rest: Partial<Membership> = {}): { readonly membership: Membership } {
  sequence += 1;
  return { membership: { sequence, partitions, weight: 1, excluded: {}, draining: false, ...rest } };
}

function asMember(role: string): AcquireRequest {
  return { role, leaseMs: LONG_LEASE_MS, tokenFloor: 0n, onlyAsMember: true };
}

/** What is told of one instance, without its id. */
function toldOf({ members }: HeartbeatReply, { id }: Member): Omit<ToldMember, 'id'> | undefined {
  assert.ok(members, 'a heartbeat with a membership is answered with the members');
  const told = members.filter((member) => member.id === id);
  assert.ok(told.length <= 1, 'each member is told once');
  const [member] = told;
  if (member === undefined) return undefined;
  const { id: _, ...rest } = member;
  return rest;
}

/** Names that are properties of every object, and such as break quoting. */
const ODD_PARTITIONS = { constructor: 1, ['__proto__']: 2, '"q" \\': 3, '\u{1f512}': 4 };

async function isTaken(member: Member, role: string, beat: Beat): Promise<boolean> {
  const report = (await member.beat({ ...beat, acquire: [asMember(role)] })).get(role);
  if (report?.outcome === 'acquired') return true;
  assert.ok(report?.outcome === 'vacant' || report?.outcome === 'missing', `the row is left as it is, not ${report?.outcome}`);
  assert.equal(report.holder, null);
  return false;
}

export const membershipRules: readonly Rule[] = [
  rule('a heartbeat tells of the members as they were before it, the own one too', async (stage) => {
    const [first, second] = await stage.pair();
    const declared = declaring({ devices: 16 });
    assert.equal(toldOf(await first.send(declared), first), undefined);
    const changed = declaring({ devices: 16, orders: 4 }, { weight: 3, excluded: { devices: '30f' }, draining: true });
    assert.deepEqual(toldOf(await first.send(changed), first), { live: true, ...declared.membership });
    const reply = await second.send(declaring({}));
    assert.deepEqual(toldOf(reply, first), { live: true, ...changed.membership });
    assert.equal(toldOf(reply, second), undefined);
    const told = toldOf(await first.send(declaring({})), second);
    assert.deepEqual([told?.live, told?.partitions], [true, {}]);
  }),

  rule('a heartbeat without a membership is told of nobody', async (stage) => {
    const [first, second] = await stage.pair();
    await first.send(declaring({ devices: 16 }));
    assert.equal((await second.send({})).members, undefined);
    assert.equal(toldOf(await first.send(declaring({})), second), undefined);
  }),

  rule('a heartbeat that comes after a later one leaves the membership as it is', async (stage) => {
    const [first, second] = await stage.pair();
    const [early, late] = [declaring({ devices: 8 }), declaring({ devices: 16 })];
    await first.send(late);
    for (const beat of [early, {}]) {
      await first.send(beat);
      assert.deepEqual(toldOf(await second.send(declaring({})), first), { live: true, ...late.membership });
    }
    await first.send(late);
    const latest = declaring({});
    await first.send(latest);
    assert.deepEqual(toldOf(await second.send(declaring({})), first), { live: true, ...latest.membership });
  }),

  rule('a membership is kept as it is, whatever the partitions are called', async (stage) => {
    const [first, second] = await stage.pair();
    const partitions = Object.fromEntries(Object.entries(ODD_PARTITIONS));
    const odd = declaring(partitions, { excluded: Object.fromEntries(Object.keys(partitions).map((name) => [name, 'f'])) });
    await first.send(odd);
    assert.deepEqual(toldOf(await second.send(declaring({})), first), { live: true, ...odd.membership });
  }),

  rule('a member whose time has run out is told of as such, and one that leaves is not told of', async (stage) => {
    const [first, second] = await stage.pair();
    await first.send({ ...declaring({ devices: 16 }), ttlMs: stage.shortLeaseMs });
    await stage.outlast();
    assert.equal(toldOf(await second.send(declaring({})), first)?.live, false);
    await first.send(declaring({ devices: 16 }));
    assert.equal(toldOf(await second.send(declaring({})), first)?.live, true);
    await first.leave();
    assert.equal(toldOf(await second.send(declaring({})), first), undefined);
  }),
];

export const onlyAsMemberRules: readonly Rule[] = [
  rule('a role that only members take is taken by one that was declared before', async (stage) => {
    const first = await stage.member('first');
    const role = stage.role();
    const declared = declaring({ devices: 16 });
    assert.equal(await isTaken(first, role, declared), false, 'with the first heartbeat');
    assert.equal(await isTaken(first, role, declared), true, 'with the second');
    const { fencingToken } = await first.observe(role);
    await first.send(declared);
    const renewed = await first.beat({ ...declared, renew: [{ role, fencingToken, onlyAsMember: true }] });
    assert.equal(renewed.get(role)?.outcome, 'renewed');
  }),

  rule('it is neither taken nor renewed by a heartbeat that comes after a later one', async (stage) => {
    const first = await stage.member('first');
    const [held, free] = [stage.role('held'), stage.role('free')];
    const [early, late] = [declaring({ devices: 16 }), declaring({ devices: 16 })];
    await first.send(late);
    assert.equal(await isTaken(first, held, late), true);
    const { fencingToken } = await first.observe(held);
    const asks = { renew: [{ role: held, fencingToken, onlyAsMember: true }], acquire: [asMember(free)] };
    const reports = await first.beat({ ...early, ...asks });
    assert.equal(reports.get(held)?.outcome, 'busy');
    assert.notEqual(reports.get(free)?.outcome, 'acquired');
    assert.deepEqual(
      [...(await first.beat({ ...late, ...asks })).values()].map(({ outcome }) => outcome),
      ['renewed', 'acquired'],
    );
  }),

  rule('it is not taken without a membership, nor with other partitions than were declared', async (stage) => {
    const first = await stage.member('first');
    const role = stage.role();
    await first.send({});
    assert.equal(await isTaken(first, role, {}), false, 'without a membership');
    await first.send(declaring({ devices: 16 }));
    assert.equal(await isTaken(first, role, declaring({ devices: 8 })), false, 'with another count');
    assert.equal(await isTaken(first, role, declaring({ devices: 8, orders: 8 })), false, 'with another partition');
    assert.equal(await isTaken(first, role, {}), false, 'without one, although there is one');
    await first.send(declaring({ devices: 8 }));
    assert.equal(await isTaken(first, role, declaring({ devices: 8 }, { weight: 2 })), true, 'with another weight');
  }),

  rule('it is not taken by a member whose time has run out, before that one was declared anew', async (stage) => {
    const [first, second] = await stage.pair();
    const role = stage.role();
    const declared = declaring({ devices: 16 });
    await first.send({ ...declared, ttlMs: stage.shortLeaseMs });
    await stage.outlast();
    assert.equal(await isTaken(first, role, declared), false);
    assert.equal(await isTaken(second, role, declared), false, 'by another, which is none');
    assert.equal(await isTaken(first, role, declared), true);
    const reports = await second.beat({ ...declared, acquire: [asMember(role)] });
    assert.equal(reports.get(role)?.outcome, 'held');
  }),

  rule('it is left alone beside roles that anybody takes', async (stage) => {
    const first = await stage.member('first');
    const [only, any] = [stage.role('only'), stage.role('any')];
    const acquire = [asMember(only), { role: any, leaseMs: LONG_LEASE_MS, tokenFloor: 0n }];
    const reports = await first.beat({ ...declaring({ devices: 16 }), acquire });
    assert.equal(reports.get(only)?.holder, null);
    assert.equal(reports.get(only)?.fencingToken, 0n);
    const report = reports.get(any);
    assert.ok(report);
    assertHeldBy(report, 'acquired', first);
  }),
];

async function wakeUpsOf(stage: Stage, member: Member, work: () => Promise<unknown>): Promise<void> {
  const before = member.wakeUps.length;
  await work();
  const deadline = performance.now() + stage.patienceMs;
  while (member.wakeUps.length === before && performance.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(member.wakeUps.length > before, 'the others are woken');
}

export const arrivalRules: readonly Rule[] = [
  rule('a member that arrives, or comes back, wakes the others', async (stage) => {
    const [first, second] = await stage.pair();
    const brief = { ...declaring({ devices: 16 }), ttlMs: stage.shortLeaseMs };
    await wakeUpsOf(stage, first, () => second.send(brief));
    await stage.outlast();
    await wakeUpsOf(stage, first, () => second.send(brief));
  }),

  rule('a member that begins or ends to drain, or leaves, wakes the others', async (stage) => {
    const [first, second] = await stage.pair();
    await wakeUpsOf(stage, first, () => second.send(declaring({ devices: 16 })));
    await wakeUpsOf(stage, first, () => second.send(declaring({ devices: 16 }, { draining: true })));
    await wakeUpsOf(stage, first, () => second.send(declaring({ devices: 16 })));
    await wakeUpsOf(stage, first, () => second.leave());
  }),
];
