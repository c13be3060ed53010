import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Member, readInterfaces } from './support/interfaces.ts';
import { headings, plain, readPage, root, tableRows } from './support/pages.ts';

const page = readPage('docs/reference/options.md');

/** Every interface of the page, with the file that has it. */
const INTERFACES: Readonly<Record<string, string>> = {
  LeaseholdOptions: 'packages/core/src/leasehold-options.ts',
  InstanceOptions: 'packages/core/src/instance.ts',
  TimingOptions: 'packages/core/src/lease/lease-options.ts',
  RoleOptions: 'packages/core/src/lease/lease-options.ts',
  PartitionOptions: 'packages/core/src/partition/partition-options.ts',
  ActorHomeOptions: 'packages/core/src/actors/actor-home.ts',
  ActorOptions: 'packages/core/src/actors/actor.ts',
  StepDownOptions: 'packages/core/src/lease/role-lease.ts',
  PostgresStoreOptions: 'packages/core/src/postgres/postgres-store.ts',
  ConnectionSource: 'packages/core/src/postgres/connection-config.ts',
  WithFenceOptions: 'packages/core/src/postgres/fence.ts',
  FenceOptions: 'packages/core/src/postgres/fence.ts',
  MemoryStoreOptions: 'packages/core/src/store/memory-store.ts',
  MemoryDatabaseOptions: 'packages/core/src/store/memory-database.ts',
  RoleHolderProxyOptions: 'packages/proxy/src/options.ts',
  PartitionHolderProxyOptions: 'packages/proxy/src/partition-options.ts',
  HolderTlsOptions: 'packages/proxy/src/tls-options.ts',
  ResolveAdvertisedOptions: 'packages/proxy/src/address.ts',
  RoleLeasePluginOptions: 'packages/fastify/src/role-lease-options.ts',
  OwnLeaseholdOptions: 'packages/fastify/src/role-lease-options.ts',
  GivenLeaseholdOptions: 'packages/fastify/src/role-lease-options.ts',
  NamedRole: 'packages/fastify/src/role-lease-options.ts',
  RoleHolderProxyPluginOptions: 'packages/fastify/src/role-holder-proxy.ts',
  PartitionHolderProxyPluginOptions: 'packages/fastify/src/partition-holder-proxy.ts',
  LeaseholdLifecycleOptions: 'packages/express/src/lifecycle-options.ts',
  RequirePartitionOptions: 'packages/express/src/require-partition.ts',
  LeaseholdModuleOptions: 'packages/nestjs/src/module-options.ts',
  LeaseholdSettings: 'packages/nestjs/src/module-options.ts',
  OwnLeaseholdSettings: 'packages/nestjs/src/module-options.ts',
  GivenLeaseholdSettings: 'packages/nestjs/src/module-options.ts',
  LeaseholdModuleAsyncOptions: 'packages/nestjs/src/module-options.ts',
  LeaseholdFeatureOptions: 'packages/nestjs/src/module-options.ts',
  InstallRoleHolderProxyOptions: 'packages/nestjs/src/install-role-holder-proxy.ts',
  InstallPartitionHolderProxyOptions: 'packages/nestjs/src/install-role-holder-proxy.ts',
  ManualClockOptions: 'packages/testing/src/manual-clock.ts',
  TcpProxyOptions: 'packages/testing/src/faults/tcp-proxy.ts',
  PostgresOptions: 'packages/testing/src/postgres/start-postgres.ts',
};

/** The unions of two others; what both have is in an interface of its own. */
const IN_SOURCE: Readonly<Record<string, string>> = {
  RoleLeasePluginOptions: 'CommonOptions',
  LeaseholdModuleOptions: 'RoleSettings',
  LeaseholdSettings: 'CommonSettings',
  LeaseholdFeatureOptions: 'FeatureSettings',
};
/** Named on the page beside the options that are exported. */
const MORE_HEADINGS = ['ConnectionSource', 'LeaseholdSettings', 'OwnLeaseholdSettings', 'GivenLeaseholdSettings', 'NamedRole'];

function membersOf(name: string): readonly Member[] {
  const file = INTERFACES[name] ?? '';
  const found = readInterfaces(file).get(IN_SOURCE[name] ?? name);
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  return found.members;
}

/** What the page has to say in the column of defaults; undefined where it may say it in its own words. */
function defaultOf(member: Member): string | undefined {
  return member.optional ? (member.default ?? undefined) : 'required';
}

describe.for(Object.keys(INTERFACES))('%s', (name) => {
  const members = membersOf(name);
  const rows = tableRows(page, name);

  test('has exactly the options of the source', () => {
    expect(members.length).toBeGreaterThan(0);
    expect(rows.map(([option = '']) => plain(option))).toEqual(members.map((member) => member.name));
  });

  test('has their types and defaults', () => {
    const told = rows.map(([option = '', type = '', value = '']) => ({
      option: plain(option),
      type: plain(type),
      default: plain(value),
    }));
    const meant = members.map((member, index) => ({
      option: member.name,
      type: member.type,
      default: plain(defaultOf(member) ?? told[index]?.default ?? ''),
    }));
    expect(told).toEqual(meant);
    for (const row of rows)
      expect(
        row.every((cell) => cell !== ''),
        row.join(' | '),
      ).toBe(true);
  });
});

const ENTRIES = [
  'core/src/index',
  'core/src/actors/index',
  'core/src/postgres/index',
  'core/src/memory/index',
  'proxy/src/index',
  'fastify/src/index',
  'express/src/index',
  'nestjs/src/index',
  'testing/src/index',
];

test('every exported …Options has a section', () => {
  const exported = ENTRIES.flatMap((entry) => {
    const source = readFileSync(join(root, 'packages', `${entry}.ts`), 'utf8');
    return [...source.matchAll(/\b([A-Z]\w*Options)\b/g)].map(([, name = '']) => name);
  });
  expect(exported.length).toBeGreaterThan(15);
  expect(new Set(headings(page, 3))).toEqual(new Set([...exported, ...MORE_HEADINGS]));
});
