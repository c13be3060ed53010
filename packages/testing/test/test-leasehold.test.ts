import { isLeaseholdError, type Term } from '@leasehold/core';
import { expect, onTestFinished, test } from 'vitest';
import { type TestLeasehold, testLeasehold, type TestLeaseholdOptions } from '../src/index.ts';

async function started(options: TestLeaseholdOptions = {}): Promise<TestLeasehold> {
  const made = testLeasehold({ roles: ['reports', 'mail'], ...options });
  onTestFinished(() => made[Symbol.asyncDispose]());
  await made.leasehold.start();
  return made;
}

/** The term that is held now. */
async function termOf({ leasehold }: TestLeasehold, role: string): Promise<Term> {
  const outcome = await leasehold.get(role).whileHeld((term) => term);
  if (!outcome.ran) throw new Error(`${role} is not held`);
  return outcome.value;
}

test('at first another instance holds every role', async () => {
  const { leasehold } = await started({ other: { id: 'app-02', address: 'http://10.0.0.2:3000' } });
  const { isHeld, currentHolder, currentHolderAddress } = leasehold.get('reports');
  expect({ isHeld, currentHolder, currentHolderAddress }).toEqual({
    isHeld: false,
    currentHolder: 'app-02',
    currentHolderAddress: 'http://10.0.0.2:3000',
  });
});

test('hold makes one role held, and no other', async () => {
  const made = await started();
  await made.hold('reports');
  expect(made.leasehold.leases.heldRoles()).toEqual(['reports']);
  expect(made.clock.monotonic()).toBeLessThanOrEqual(200);
});

test('hold before start holds from the start', async () => {
  const { leasehold, hold } = testLeasehold({ roles: ['reports'] });
  onTestFinished(() => leasehold[Symbol.asyncDispose]());
  await hold('reports');
  expect(leasehold.get('reports').isHeld).toBe(false);
  await leasehold.start();
  expect(leasehold.get('reports').isHeld).toBe(true);
});

test('a role that the code under test registers can be held and lost', async () => {
  const { leasehold, hold, lose } = await started();
  const lease = leasehold.role('of the application');
  await hold('of the application');
  expect(lease.isHeld).toBe(true);
  await lose('of the application');
  expect(lease.isHeld).toBe(false);
});

test('what is held stays held as time passes', async () => {
  const { leasehold, hold, clock } = await started();
  await hold('reports');
  const token = leasehold.get('reports').fencingToken;
  await clock.advance(600_000);
  expect(leasehold.get('reports').fencingToken).toBe(token);
});

test.each(['LEASEHOLD_TERM_LOST', 'LEASEHOLD_TERM_EXPIRED'] as const)('lose ends the term with %s', async (reason) => {
  const made = await started();
  await made.hold('reports');
  await made.hold('mail');
  const term = await termOf(made, 'reports');
  const mail = await termOf(made, 'mail');
  await made.lose('reports', reason);
  expect(made.leasehold.get('reports').isHeld).toBe(false);
  expect(isLeaseholdError(term.signal.reason, reason)).toBe(true);
  expect(mail.signal.aborted).toBe(false);
});

test('after a loss the other instance is the holder; after an expiry nobody is', async () => {
  const { leasehold, hold, lose } = await started();
  const lease = leasehold.get('reports');
  await hold('reports');
  await lose('reports');
  expect(lease.currentHolder).toBe('other-instance');
  await hold('reports');
  await lose('reports', 'LEASEHOLD_TERM_EXPIRED');
  expect(lease.currentHolder).toBe(null);
});

test('a role that was lost stays lost until it is held again, under a higher token', async () => {
  const made = await started();
  await made.hold('reports');
  const first = await termOf(made, 'reports');
  for (const reason of ['LEASEHOLD_TERM_LOST', 'LEASEHOLD_TERM_EXPIRED'] as const) {
    await made.lose('reports', reason);
    await made.clock.advance(60_000);
    expect(made.leasehold.get('reports').isHeld).toBe(false);
    await made.hold('reports');
    expect((await termOf(made, 'reports')).fencingToken).toBeGreaterThan(first.fencingToken);
  }
});

test('hold of what is held and lose of what is not change nothing', async () => {
  const { leasehold, hold, lose } = await started();
  await lose('mail');
  expect(leasehold.get('mail').currentHolder).toBe('other-instance');
  await hold('reports');
  const token = leasehold.get('reports').fencingToken;
  await hold('reports');
  expect(leasehold.get('reports').fencingToken).toBe(token);
});

test('hold ends standing aside', async () => {
  const { leasehold, hold, clock } = await started();
  const lease = leasehold.get('reports');
  await hold('reports');
  await lease.stepDown({ standAside: 'until-told' });
  await clock.advance(60_000);
  expect(lease.isHeld).toBe(false);
  await hold('reports');
  expect(lease.isHeld).toBe(true);
});

test('the fence passes for the current term alone', async () => {
  const made = await started();
  await made.hold('reports');
  const term = await termOf(made, 'reports');
  await expect(term.fence({})).resolves.toBeUndefined();
  await made.lose('reports');
  await expect(term.fence({})).rejects.toMatchObject({ code: 'LEASEHOLD_FENCED' });
});

test('roles of a partition are given and taken as any others', async () => {
  const made = testLeasehold({ other: { id: 'app-02', address: 'http://10.0.0.2:3000' } });
  onTestFinished(() => made[Symbol.asyncDispose]());
  const { leasehold, hold, lose } = made;
  const devices = leasehold.partition('devices', { count: 4, balance: 'fair' });
  const { role } = devices.resolve('device-7');
  await hold(role);
  await leasehold.start();
  expect(devices.isHeld('device-7')).toBe(true);
  expect(leasehold.leases.heldRoles()).toEqual([role]);
  await lose(role);
  expect(devices.resolve('device-7')).toMatchObject({ isHeld: false, currentHolderAddress: 'http://10.0.0.2:3000' });
  await hold(role);
  expect(await devices.whileHeld('device-7', () => 'done')).toEqual({ ran: true, value: 'done' });
  await lose(role, 'LEASEHOLD_TERM_EXPIRED');
  expect(devices.resolve('device-7')).toMatchObject({ isHeld: false, currentHolder: null });
});

test('misuse has codes', async () => {
  const { leasehold, hold, lose } = await started();
  await expect(hold('report')).rejects.toMatchObject({ code: 'LEASEHOLD_UNKNOWN_ROLE' });
  await expect(lose('report')).rejects.toMatchObject({ code: 'LEASEHOLD_UNKNOWN_ROLE' });
  leasehold.role('ill', { healthCheck: () => false, healthCheckFailures: 1 });
  await expect(hold('ill')).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option: 'healthCheck' });
  await leasehold.stop();
  await expect(hold('reports')).rejects.toMatchObject({ code: 'LEASEHOLD_STOPPED' });
});

test('stop waits for work, and ends with it', async () => {
  const { leasehold, hold } = await started();
  await hold('reports');
  const { promise, resolve } = Promise.withResolvers<string>();
  const outcome = leasehold.get('reports').whileHeld(() => promise);
  const stopped = leasehold.stop();
  resolve('finished');
  await stopped;
  expect(await outcome).toEqual({ ran: true, value: 'finished' });
});
