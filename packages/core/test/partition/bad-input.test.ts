import {
  createLeasehold,
  type Leasehold,
  LeaseholdError,
  type LeaseholdErrorCode,
  type LeaseholdOptions,
  type PartitionOptions,
  type RolePartition,
} from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it } from 'vitest';

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

const newLeasehold = (options: LeaseholdOptions = {}): Leasehold => createLeasehold({ store: memoryStore(), ...options });

describe('partition() refuses, and registers nothing,', () => {
  it.each<[string, LeaseholdErrorCode, string | undefined, unknown, unknown]>([
    ['no options', 'LEASEHOLD_INVALID_OPTION', 'options', 'p', undefined],
    ['options that are none', 'LEASEHOLD_INVALID_OPTION', 'options', 'p', 16],
    ['no count', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', {}],
    ['a count of 0', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: 0 }],
    ['a count below 0', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: -1 }],
    ['a count over 4,096', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: 4_097 }],
    ['half a role', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: 1.5 }],
    ['a count in words', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: '16' }],
    ['no number', 'LEASEHOLD_INVALID_OPTION', 'count', 'p', { count: Number.NaN }],
    ['another balance', 'LEASEHOLD_INVALID_OPTION', 'balance', 'p', { count: 2, balance: 'even' }],
    ['an unknown option', 'LEASEHOLD_INVALID_OPTION', 'balanced', 'p', { count: 2, balanced: true }],
    [
      'a lease without room',
      'LEASEHOLD_INVALID_TIMING',
      'leaseDuration',
      'p',
      { count: 2, leaseDuration: '1s', renewInterval: '1s' },
    ],
    ['a health check that is none', 'LEASEHOLD_INVALID_OPTION', 'healthCheck', 'p', { count: 2, healthCheck: true }],
    ['no name', 'LEASEHOLD_INVALID_ROLE', 'role', undefined, { count: 2 }],
    ['an empty name', 'LEASEHOLD_INVALID_ROLE', 'role', '', { count: 2 }],
    ['a name with a line break', 'LEASEHOLD_INVALID_ROLE', 'role', 'a\nb', { count: 2 }],
    ['a name with half a character', 'LEASEHOLD_INVALID_ROLE', 'role', '\ud83d', { count: 2 }],
    [
      'a name whose last role is too long',
      'LEASEHOLD_INVALID_ROLE',
      'name',
      'n'.repeat(128 - ':partition-9'.length),
      { count: 11 },
    ],
  ])('%s', (...[, code, option, name, options]) => {
    const leasehold = newLeasehold();
    const error = caught(code, () => leasehold.partition(name as string, options as PartitionOptions));
    expect(error.option).toBe(option);
    expect(leasehold.leases.size).toBe(0);
  });

  it('names what an unknown option was given to', () => {
    const options = { count: 2, maxhold: '1m' } as PartitionOptions;
    expect(caught('LEASEHOLD_INVALID_OPTION', () => newLeasehold().partition('p', options)).message).toContain(
      '"maxhold" is no option of partition()',
    );
  });

  it('a second one of the same name, and keeps the first', () => {
    const leasehold = newLeasehold();
    const first = leasehold.partition('p', { count: 2 });
    const error = caught('LEASEHOLD_DUPLICATE_ROLE', () => leasehold.partition('p', { count: 3 }));
    expect(error.message).toContain('getPartition("p")');
    expect(leasehold.leases.size).toBe(2);
    expect(leasehold.getPartition('p')).toBe(first);
  });

  it('one of whose roles is registered, and none of its others', () => {
    const leasehold = newLeasehold();
    leasehold.role('p:partition-2');
    expect(caught('LEASEHOLD_DUPLICATE_ROLE', () => leasehold.partition('p', { count: 4 })).role).toBe('p:partition-2');
    expect([...leasehold.leases].map(({ role }) => role)).toEqual(['p:partition-2']);
    caught('LEASEHOLD_UNKNOWN_ROLE', () => leasehold.getPartition('p'));
    expect(leasehold.partition('p', { count: 2 }).count).toBe(2);
  });

  it('a call after stop()', async () => {
    const leasehold = newLeasehold();
    await leasehold.start();
    await leasehold.stop();
    caught('LEASEHOLD_STOPPED', () => leasehold.partition('p', { count: 2 }));
  });
});

describe('a registered partition', () => {
  it('keeps its role names from others', () => {
    const leasehold = newLeasehold();
    leasehold.partition('p', { count: 4 });
    caught('LEASEHOLD_DUPLICATE_ROLE', () => leasehold.role('p:partition-3'));
    expect(leasehold.role('p:partition-4').role).toBe('p:partition-4');
  });

  it('has the longest name and the most roles there can be', () => {
    const name = 'n'.repeat(128 - ':partition-4095'.length);
    expect(newLeasehold().partition(name, { count: 4_096 }).partitions.at(-1)?.role).toHaveLength(128);
  });

  it('is named when another is asked for', () => {
    const leasehold = newLeasehold();
    leasehold.partition('devices', { count: 1 });
    expect(caught('LEASEHOLD_UNKNOWN_ROLE', () => leasehold.getPartition('device')).message).toContain('registered: devices');
  });
});

describe('a key', () => {
  const partition = (): RolePartition => newLeasehold().partition('p', { count: 16 });
  const calls: Readonly<Record<string, (...keys: unknown[]) => unknown>> = {
    resolve: (...keys) => partition().resolve(...(keys as [string])),
    isHeld: (...keys) => partition().isHeld(...(keys as [string])),
  };
  const bad: [what: string, option: string, keys: unknown[]][] = [
    ['nothing', 'key', []],
    ['undefined', 'key', [undefined]],
    ['null', 'key', [null]],
    ['a number', 'key', [7]],
    ['a buffer', 'key', [Buffer.from('7')]],
    ['a megabyte', 'key', ['x'.repeat(1_048_576)]],
    ['an empty scope', 'scope', ['', '7']],
    ['a scope of blanks', 'scope', [' \t', '7']],
    ['no scope', 'scope', [null, '7']],
    ['a scope of a megabyte', 'scope', ['x'.repeat(1_048_576), '7']],
    // An id that is missing would be taken for a key without a scope: all such would be one key.
    ['a scope and no key', 'key', ['Order', undefined]],
    ['a scope and null', 'key', ['Order', null]],
    ['a scope and a number', 'key', ['Order', 7]],
  ];

  it.each(Object.keys(calls).flatMap((call) => bad.map(([what, ...rest]) => [call, what, ...rest] as const)))(
    '%s() refuses %s',
    (call, _, option, keys) => {
      const error = caught('LEASEHOLD_INVALID_AFFINITY_KEY', () => calls[call]?.(...keys));
      expect(error.option).toBe(option);
      expect(error.message.length).toBeLessThan(300);
    },
  );

  it.each(bad.filter(([, , keys]) => keys.length > 0))('whileHeld() rejects %s, and runs nothing', async (_, option, keys) => {
    let ran = 0;
    const call = partition().whileHeld(...([...keys, () => (ran += 1)] as unknown as [string, () => number]));
    await expect(call).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_AFFINITY_KEY', option });
    expect(ran).toBe(0);
  });

  it.each([
    ['a key alone', ['7']],
    ['a key and no work', ['7', undefined]],
    ['a scope, a key and no work', ['Order', '7', undefined]],
    ['a scope, a key and a word', ['Order', '7', 'work']],
  ])('whileHeld() refuses %s', async (_, given) => {
    const call = partition().whileHeld(...(given as unknown as [string, () => void]));
    await expect(call).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option: 'work' });
  });

  it('may be empty, and as long as 65,536', () => {
    expect(partition().resolve('').role).toMatch(/^p:partition-\d+$/);
    expect(partition().resolve('Order', '').role).toMatch(/^p:partition-\d+$/);
    expect(partition().resolve('x'.repeat(65_536)).role).toMatch(/^p:partition-\d+$/);
  });
});

describe('options of the instance', () => {
  it.each([0, -1, 1.5, 1_001, Number.NaN, Number.POSITIVE_INFINITY, '2', null])('refuses a weight of %o', (weight) => {
    const options = { instance: { weight: weight as number } };
    expect(caught('LEASEHOLD_INVALID_OPTION', () => newLeasehold(options)).option).toBe('instance.weight');
  });

  it.each([1, 2, 1_000, undefined])('takes a weight of %o', (weight) => {
    expect(newLeasehold({ instance: { weight: weight as number } }).instance.id).not.toBe('');
  });

  it('refuses a canHold that is no function', () => {
    const options = { canHold: ['p'] } as unknown as LeaseholdOptions;
    expect(caught('LEASEHOLD_INVALID_OPTION', () => newLeasehold(options)).option).toBe('canHold');
  });

  it.each<[string, (role: string) => unknown]>([
    ['a promise', async () => true],
    ['a promise that fails', async () => Promise.reject(new Error('no'))],
    ['nothing', () => undefined],
    ['a word', () => 'yes'],
    [
      'an error',
      () => {
        throw new Error('out of order');
      },
    ],
  ])('refuses a canHold that answers with %s, and registers nothing', (_, answer) => {
    const canHold = (role: string): boolean => (role.endsWith('-2') ? (answer(role) as boolean) : true);
    const leasehold = newLeasehold({ canHold });
    const error = caught('LEASEHOLD_INVALID_OPTION', () => leasehold.partition('p', { count: 4 }));
    expect(error).toMatchObject({ option: 'canHold', role: 'p:partition-2' });
    expect(leasehold.leases.size).toBe(0);
    expect(leasehold.partition('p', { count: 2 }).count).toBe(2);
  });

  it('asks canHold once for each role, and never lets it hold another', async () => {
    const asked: string[] = [];
    const leasehold = newLeasehold({
      canHold: (role) => {
        asked.push(role);
        return role !== 'no' && !role.endsWith('-1');
      },
    });
    const no = leasehold.role('no');
    const devices = leasehold.partition('p', { count: 3 });
    await leasehold.start();
    await expect.poll(() => leasehold.leases.heldRoles()).toEqual(['p:partition-0', 'p:partition-2']);
    expect(asked).toEqual(['no', 'p:partition-0', 'p:partition-1', 'p:partition-2']);
    expect([no.isHeld, devices.partitions[1]?.isHeld]).toEqual([false, false]);
    await leasehold.stop();
  });
});
