import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Member, readInterfaces } from './support/interfaces.ts';
import { headings, plain, readPage, root, tableRows } from './support/pages.ts';

/** Every interface of a page, with the file that has it. */
const OPTIONS: Readonly<Record<string, string>> = {
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

const WORK = 'packages/core/src/work';

const WORK_ROWS: Readonly<Record<string, string>> = {
  WorkTableOptions: `${WORK}/work-table-options.ts`,
  ClaimOptions: `${WORK}/claim.ts`,
  SettleOptions: `${WORK}/fate.ts`,
  RetryOptions: `${WORK}/fate.ts`,
  ReleaseOptions: `${WORK}/fate.ts`,
  BuryOptions: `${WORK}/fate.ts`,
  WorkOptions: `${WORK}/worker/work-options.ts`,
  StopOptions: `${WORK}/worker/worker.ts`,
  ExponentialOptions: `${WORK}/backoff.ts`,
  RetryAfterOptions: `${WORK}/retry-after.ts`,
  StorableTextOptions: `${WORK}/storable.ts`,
};

const WORK_TABLES: Readonly<Record<string, string>> = {
  DdlOptions: `${WORK}/ddl/ddl.ts`,
  PurgeOptions: `${WORK}/upkeep/purge.ts`,
  RequeueOptions: `${WORK}/upkeep/requeue.ts`,
  CountsOptions: `${WORK}/upkeep/counts.ts`,
  DoctorOptions: `${WORK}/doctor/doctor.ts`,
};

const PAGES = [
  { page: readPage('docs/reference/options.md'), interfaces: OPTIONS },
  { page: readPage('docs/reference/work-rows.md'), interfaces: WORK_ROWS },
  { page: readPage('docs/reference/work-tables.md'), interfaces: WORK_TABLES },
];

const SECTIONS = PAGES.flatMap(({ page, interfaces }) =>
  Object.entries(interfaces).map(([name, file]) => ({ name, file, page })),
);

/** The unions of two others; what both have is in an interface of its own. */
const IN_SOURCE: Readonly<Record<string, string>> = {
  RoleLeasePluginOptions: 'CommonOptions',
  LeaseholdModuleOptions: 'RoleSettings',
  LeaseholdSettings: 'CommonSettings',
  LeaseholdFeatureOptions: 'FeatureSettings',
};
/** Named on the pages beside the options that are exported. */
const MORE_HEADINGS = ['ConnectionSource', 'LeaseholdSettings', 'OwnLeaseholdSettings', 'GivenLeaseholdSettings', 'NamedRole'];

/** Sections of the page about work tables that are no options. */
const OF_OTHER_THINGS: ReadonlySet<string> = new Set([
  'Columns',
  'Checks',
  'Indexes',
  'Settings',
  'When it is refused',
  'Changing live or orderBy',
  'Findings',
]);

function membersOf(name: string, file: string): readonly Member[] {
  const found = readInterfaces(file).get(IN_SOURCE[name] ?? name);
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  return found.members;
}

/** What the page has to say in the column of defaults; undefined where it may say it in its own words. */
function defaultOf(member: Member): string | undefined {
  return member.optional ? (member.default ?? undefined) : 'required';
}

describe.for(SECTIONS)('$name', ({ name, file, page }) => {
  const members = membersOf(name, file);
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
  'core/src/work/index',
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
  const sections = PAGES.flatMap(({ page }) => headings(page, 3)).filter((heading) => !OF_OTHER_THINGS.has(heading));
  expect(new Set(sections)).toEqual(new Set([...exported, ...MORE_HEADINGS]));
  expect(sections.toSorted()).toEqual([...new Set(sections)].toSorted());
});
