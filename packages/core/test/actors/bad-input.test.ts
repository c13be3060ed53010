import { createLeasehold, type Leasehold, LeaseholdError, type LeaseholdErrorCode } from '@leasehold/core';
import { type ActorHome, actorHome, type AnyActors } from '@leasehold/core/actors';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, onTestFinished } from 'vitest';

function caught(code: LeaseholdErrorCode, work: () => unknown): LeaseholdError {
  let error: unknown;
  try {
    work();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(LeaseholdError);
  expect(error).toMatchObject({ code });
  return error as LeaseholdError;
}

const newLeasehold = (): Leasehold => createLeasehold({ store: memoryStore() });
const handle = (): number => 1;
const lax = (...given: unknown[]): unknown => Reflect.apply(actorHome, undefined, given);

describe('actorHome() refuses, and registers nothing,', () => {
  it.each<[string, LeaseholdErrorCode, string | undefined, unknown]>([
    ['options that are none', 'LEASEHOLD_INVALID_OPTION', 'options', 16],
    ['null', 'LEASEHOLD_INVALID_OPTION', 'options', null],
    ['an unknown option', 'LEASEHOLD_INVALID_OPTION', 'shard', { shard: 16 }],
    ['the count of a partition', 'LEASEHOLD_INVALID_OPTION', 'count', { count: 16 }],
    ['no shards', 'LEASEHOLD_INVALID_OPTION', 'shards', { shards: 0 }],
    ['too many shards', 'LEASEHOLD_INVALID_OPTION', 'shards', { shards: 4_097 }],
    ['shards in words', 'LEASEHOLD_INVALID_OPTION', 'shards', { shards: '16' }],
    ['shards that are null', 'LEASEHOLD_INVALID_OPTION', 'shards', { shards: null }],
    ['another balance', 'LEASEHOLD_INVALID_OPTION', 'balance', { shards: 16, balance: 'even' }],
    ['a balance of one home', 'LEASEHOLD_INVALID_OPTION', 'balance', { balance: 'fair' }],
    ['a logger that is none', 'LEASEHOLD_INVALID_OPTION', 'logger', { logger: { info: () => {} } }],
    ['a duration that is none', 'LEASEHOLD_INVALID_DURATION', 'leaseDuration', { leaseDuration: '15' }],
    ['the same with shards', 'LEASEHOLD_INVALID_DURATION', 'leaseDuration', { shards: 2, leaseDuration: '15' }],
    ['a lease without room', 'LEASEHOLD_INVALID_TIMING', 'leaseDuration', { leaseDuration: '1s', renewInterval: '1s' }],
  ])('%s', (...[, code, option, options]) => {
    const leasehold = newLeasehold();
    expect(caught(code, () => lax(leasehold, options)).option).toBe(option);
    expect(leasehold.leases.size).toBe(0);
    actorHome(leasehold, { shards: 2 });
  });

  it.each([undefined, null, {}, 'leasehold'])('a Leasehold that is %s: it got lost on its way', (leasehold) => {
    expect(caught('LEASEHOLD_INVALID_OPTION', () => lax(leasehold)).option).toBe('leasehold');
  });

  it('a second home, of either form, and a name that is taken', () => {
    const [one, many, role, partition] = [newLeasehold(), newLeasehold(), newLeasehold(), newLeasehold()] as const;
    actorHome(one);
    actorHome(many, { shards: 2 });
    role.role('actors');
    partition.partition('actors', { count: 2 });
    for (const leasehold of [one, many, role, partition]) {
      const { size } = leasehold.leases;
      expect(caught('LEASEHOLD_DUPLICATE_ROLE', () => actorHome(leasehold)).message).toContain('call actorHome() once');
      caught('LEASEHOLD_DUPLICATE_ROLE', () => actorHome(leasehold, { shards: 2 }));
      expect(leasehold.leases.size).toBe(size);
    }
  });

  it('after stop', async () => {
    const leasehold = newLeasehold();
    await leasehold.start();
    await leasehold.stop();
    caught('LEASEHOLD_STOPPED', () => actorHome(leasehold));
    caught('LEASEHOLD_STOPPED', () => actorHome(leasehold, { shards: 2 }));
  });
});

describe('actor() refuses', () => {
  it.each<[string, string, unknown, unknown]>([
    ['no name', 'name', undefined, { handle }],
    ['an empty name', 'name', ' ', { handle }],
    ['a long name', 'name', 'n'.repeat(129), { handle }],
    ['no options', 'options', 'Order', undefined],
    ['a function for options', 'options', 'Order', handle],
    ['no handler', 'handle', 'Order', {}],
    ['an unknown option', 'mailBox', 'Order', { handle, mailBox: 1 }],
    ['no mailbox', 'mailbox', 'Order', { handle, mailbox: 0 }],
    ['a mailbox without end', 'mailbox', 'Order', { handle, mailbox: Number.POSITIVE_INFINITY }],
    ['half a mailbox', 'mailbox', 'Order', { handle, mailbox: 1.5 }],
  ])('%s', (...[, option, name, options]) => {
    const home = actorHome(newLeasehold());
    const actor = home.actor.bind(home) as (...given: unknown[]) => void;
    expect(caught('LEASEHOLD_INVALID_OPTION', () => actor(name, options)).option).toBe(option);
  });

  it('a second one of the name', () => {
    const home = actorHome(newLeasehold());
    home.actor('Order', { handle });
    caught('LEASEHOLD_DUPLICATE_ACTOR', () => home.actor('Order', { handle }));
  });
});

describe.each([{}, { shards: 4 }])('a message is refused at once (%o),', (options) => {
  async function started(): Promise<ActorHome<AnyActors>> {
    const leasehold = newLeasehold();
    const home = actorHome(leasehold, options);
    home.actor('Order', { handle: (message) => message });
    await leasehold.start();
    await expect.poll(() => leasehold.leases.heldRoles().length).toBe(leasehold.leases.size);
    onTestFinished(() => leasehold.stop());
    return home;
  }

  it.each([undefined, null, 7, 7n, {}, ['7'], 'k'.repeat(65_537)])('with the key %o', async (key) => {
    const home = await started();
    caught('LEASEHOLD_INVALID_AFFINITY_KEY', () => home.tell('Order', key as string, 1));
    await expect(home.ask('Order', key as string, 1)).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_AFFINITY_KEY' });
  });

  it.each([undefined, null, 7, 'Orders', 'constructor', '__proto__'])('to the actor %o', async (name) => {
    const home = await started();
    expect(caught('LEASEHOLD_UNKNOWN_ACTOR', () => home.tell(name as string, '1', 1)).message).toContain('registered: Order');
    await expect(home.ask(name as string, '1', 1)).rejects.toMatchObject({ code: 'LEASEHOLD_UNKNOWN_ACTOR' });
  });

  it.each(['', '__proto__', 'constructor', '\u0000', '\ud83d', 'k'.repeat(65_536)])('but not with the key %j', async (key) => {
    const home = await started();
    expect(await home.ask('Order', key, 'x')).toBe('x');
  });
});
