import { createLeasehold, type Leasehold, type LeaseholdErrorCode, type PartitionOptions } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, test } from 'vitest';
import { codeOf } from '../../../test/support/code-of.ts';
import { createPluginApp } from './support/plugin-app.ts';

const partitions = { devices: { count: 4, balance: 'fair' } } as const;
const DEVICES = [0, 1, 2, 3].map((place) => `devices:partition-${place}`);
const rolesOf = (leasehold: Leasehold): string[] => Array.from(leasehold.leases, ({ role }) => role).toSorted();

describe('app.rolePartitions', () => {
  test('a single instance holds all roles of its partitions once the application is ready', async () => {
    const app = createPluginApp({ store: memoryStore(), roles: ['maintenance'], partitions });
    await app.ready();
    const devices = app.rolePartitions.get('devices');
    expect(devices).toBe(app.leasehold.getPartition('devices'));
    await expect.poll(() => app.roleLeases.heldRoles().toSorted()).toEqual([...DEVICES, 'maintenance']);
    expect(devices.isHeld('device-42')).toBe(true);
  });

  test('says which there are, also of those that are added by hand', async () => {
    const app = createPluginApp({ store: memoryStore(), partitions });
    await app.after();
    expect([app.rolePartitions.has('devices'), app.rolePartitions.has('orders')]).toEqual([true, false]);
    expect(() => app.rolePartitions.get('orders')).toThrow(expect.objectContaining({ code: 'LEASEHOLD_UNKNOWN_ROLE' }));
    const orders = app.leasehold.partition('orders', { count: 2 });
    expect(app.rolePartitions.get('orders')).toBe(orders);
  });

  test('is seen in plugins, and of a Leasehold that is given', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const app = createPluginApp({ leasehold, partitions });
    let count = 0;
    app.register(async (child) => void (count = child.rolePartitions.get('devices').count));
    await app.ready();
    expect([count, leasehold.getPartition('devices').count]).toEqual([4, 4]);
  });
});

describe('partitions that cannot be', () => {
  const refused: readonly (readonly [string, LeaseholdErrorCode, unknown])[] = [
    ['no role', 'LEASEHOLD_INVALID_OPTION', { devices: { count: 0 } }],
    ['more than there may be', 'LEASEHOLD_INVALID_OPTION', { devices: { count: 4_097 } }],
    ['half a role', 'LEASEHOLD_INVALID_OPTION', { devices: { count: 1.5 } }],
    ['no count', 'LEASEHOLD_INVALID_OPTION', { devices: {} }],
    ['another balance', 'LEASEHOLD_INVALID_OPTION', { devices: { count: 4, balance: 'even' } }],
    ['a misspelt option', 'LEASEHOLD_INVALID_OPTION', { devices: { count: 4, maxHolt: '1h' } }],
    ['a duration', 'LEASEHOLD_INVALID_DURATION', { devices: { count: 4, maxHold: 'an hour' } }],
    ['an empty name', 'LEASEHOLD_INVALID_ROLE', { '': { count: 4 } }],
    ['a partition without options', 'LEASEHOLD_INVALID_OPTION', { devices: undefined }],
    ['a count alone', 'LEASEHOLD_INVALID_OPTION', { devices: 4 }],
    ['a list of names', 'LEASEHOLD_INVALID_OPTION', ['devices']],
    ['a map', 'LEASEHOLD_INVALID_OPTION', new Map([['devices', { count: 4 }]])],
    ['no object', 'LEASEHOLD_INVALID_OPTION', 'devices'],
    ['a name that is that of a role', 'LEASEHOLD_DUPLICATE_ROLE', { jobs: { count: 2 } }],
  ];

  test.each(refused)('%s: ready() rejects with %s, and nothing is registered', async (_what, code, wrong) => {
    const options = { roles: ['maintenance', 'jobs:partition-1'], partitions: wrong as Record<string, PartitionOptions> };
    const app = createPluginApp({ store: memoryStore(), ...options });
    expect(await codeOf(app.ready())).toBe(code);
    expect([app.hasDecorator('leasehold'), app.hasDecorator('rolePartitions')]).toEqual([false, false]);

    const leasehold = createLeasehold({ store: memoryStore() });
    expect(await codeOf(createPluginApp({ leasehold, ...options }).ready())).toBe(code);
    expect(rolesOf(leasehold)).toEqual([]);
  });
});

describe('a Leasehold that is given has all of it, or nothing:', () => {
  const given = createLeasehold({ store: memoryStore(), leaseDuration: '60s', renewInterval: '20s' });
  given.role('taken');
  given.role('orders:partition-1');
  given.partition('there', { count: 2 });
  const before = rolesOf(given);

  test.each<[string, LeaseholdErrorCode, Record<string, unknown>]>([
    ['a later role is taken', 'LEASEHOLD_DUPLICATE_ROLE', { roles: ['a', 'taken'] }],
    ['a later role has options that cannot be', 'LEASEHOLD_INVALID_DURATION', { roles: ['a', { name: 'b', maxHold: 'x' }] }],
    // With the usual timing it would have room.
    ['a later role has no room', 'LEASEHOLD_INVALID_TIMING', { roles: ['a', { name: 'b', leaseDuration: '15s' }] }],
    [
      'a partition has no room',
      'LEASEHOLD_INVALID_TIMING',
      { roles: ['a'], partitions: { p: { count: 2, leaseDuration: '15s' } } },
    ],
    ['a later partition cannot be', 'LEASEHOLD_INVALID_OPTION', { partitions: { p: { count: 2 }, q: { count: 0 } } }],
    ['a partition is there', 'LEASEHOLD_DUPLICATE_ROLE', { roles: ['a'], partitions: { there: { count: 2 } } }],
    ['a partition has the name of a role', 'LEASEHOLD_DUPLICATE_ROLE', { roles: ['a'], partitions: { orders: { count: 2 } } }],
    ['a role has the name of one of a partition', 'LEASEHOLD_DUPLICATE_ROLE', { roles: ['a', 'there:partition-0'] }],
  ])('%s', async (_what, code, options) => {
    expect(await codeOf(createPluginApp({ leasehold: given, ...options }).ready())).toBe(code);
    expect(rolesOf(given)).toEqual(before);
  });

  test('a partition that is there: the message says how to share it', async () => {
    const app = createPluginApp({ leasehold: given, partitions: { there: { count: 2 } } });
    await expect(app.ready()).rejects.toThrow('getPartition("there")');
  });

  test('canHold fails at a later role', async () => {
    const canHold = (role: string): boolean => {
      if (role === 'devices:partition-3') throw new Error('not this one');
      return true;
    };
    const leasehold = createLeasehold({ store: memoryStore(), canHold });
    expect(await codeOf(createPluginApp({ leasehold, roles: ['a'], partitions }).ready())).toBe('LEASEHOLD_INVALID_OPTION');
    expect(rolesOf(leasehold)).toEqual([]);
  });

  test('with its timing all is well', async () => {
    const leasehold = createLeasehold({ store: memoryStore(), leaseDuration: '60s' });
    const app = createPluginApp({ leasehold, roles: [{ name: 'a', renewInterval: '20s' }], partitions });
    await app.ready();
    expect(rolesOf(leasehold)).toEqual(['a', ...DEVICES]);
  });
});
