import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '@leasehold/core';
import { describe, expect, test } from 'vitest';
import { readInterfaces } from './support/interfaces.ts';
import { readMethods, readSignature, readThrows } from './support/methods.ts';
import { plain, readPage, root, tableRows } from './support/pages.ts';

const page = readPage('docs/reference/api.md');

/** Every interface of the page, with the file that has it. */
const INTERFACES = {
  Leasehold: 'packages/core/src/leasehold.ts',
  LeaseRegistry: 'packages/core/src/lease/registry.ts',
  RoleLease: 'packages/core/src/lease/role-lease.ts',
  RolePartition: 'packages/core/src/partition/role-partition.ts',
  PartitionLease: 'packages/core/src/partition/role-partition.ts',
  RepeatedWork: 'packages/core/src/lease/every.ts',
  Term: 'packages/core/src/lease/term.ts',
  ActorHome: 'packages/core/src/actors/actor-home.ts',
  ActorContext: 'packages/core/src/actors/actor.ts',
  Fence: 'packages/core/src/postgres/fence.ts',
  WorkTable: 'packages/core/src/work/work-table.ts',
  Claim: 'packages/core/src/work/claim.ts',
  Worker: 'packages/core/src/work/worker/worker.ts',
  Job: 'packages/core/src/work/worker/job.ts',
  HeldRoles: 'packages/core/src/work/held-roles.ts',
} as const;

function codesIn(text: string): string[] {
  return [...new Set(text.match(/LEASEHOLD_[A-Z_]*[A-Z]/g) ?? [])].filter((code) => code in errorCodes);
}

/** `role(name, options?)` is `role`. */
function nameIn(cell: string): string {
  return plain(cell).replace(/\(.*/, '');
}

describe.for(Object.entries(INTERFACES))('%s', ([name, file]) => {
  const members = readMethods(file, name);
  const rows = tableRows(page, name);

  test('has exactly the members of the source, methods with their parameters', () => {
    expect(members.length).toBeGreaterThan(0);
    expect(rows.map(([member = '']) => plain(member))).toEqual(members.map((member) => member.signature));
  });

  test('names every code that the source says it throws', () => {
    const told = rows.map(([member = '', , throws = '']) => ({ member: nameIn(member), codes: codesIn(throws) }));
    const missing = members.flatMap((member) => {
      const codes = told.find((row) => row.member === member.name)?.codes ?? [];
      return member.throws.filter((code) => code in errorCodes && !codes.includes(code)).map((code) => `${member.name}: ${code}`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the functions for fences', () => {
  const rows = tableRows(page, 'Fences');

  test('are those that are exported', () => {
    const exported = readFileSync(join(root, 'packages/core/src/postgres/index.ts'), 'utf8');
    const names = rows.map(([name = '']) => nameIn(name));
    expect(names).toEqual(['withFence', 'createFence']);
    for (const name of names) expect(exported).toMatch(new RegExp(`\\b${name}\\b`));
  });

  test.for(rows)('%s names every code that the source says it throws', ([name = '', , throws = '']) => {
    const codes = readThrows('packages/core/src/postgres/fence.ts', nameIn(name));
    expect(codes.length).toBeGreaterThan(0);
    expect(codesIn(throws)).toEqual(expect.arrayContaining([...codes]));
  });
});

describe('the functions for work rows', () => {
  const rows = tableRows(page, 'Functions for work rows');
  const source = readFileSync(join(root, 'packages/core/src/work/index.ts'), 'utf8');
  const exported = [...source.matchAll(/^export \{([^}]*)\} from '\.\/([^']+)'/gm)].flatMap(([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => ({ name, file: `packages/core/src/work/${file}` })),
  );
  /** What the row of `sql` names besides. */
  const beside = ['join', 'raw', 'empty', 'Sql'];

  test('are those that are exported, with their parameters', () => {
    const meant = exported
      .filter(({ name }) => !beside.includes(name))
      .map(({ name, file }) => readSignature(file, name) ?? name);
    expect(rows.map(([name = '']) => plain(name)).toSorted()).toEqual(meant.toSorted());
    const row = rows.find(([name = '']) => plain(name) === 'sql')?.join(' ') ?? '';
    expect(beside.filter((name) => !row.includes(`\`${name}\``))).toEqual([]);
  });

  test.for(exported.filter(({ name, file }) => readSignature(file, name) !== null))(
    '$name names exactly the codes that the source says it throws',
    ({ name, file }) => {
      const [, , throws = ''] = rows.find(([cell = '']) => nameIn(cell) === name) ?? [];
      expect(codesIn(throws).toSorted()).toEqual([...new Set(readThrows(file, name))].toSorted());
    },
  );
});

test('the numbers of a worker are those of the source', () => {
  const members = readInterfaces('packages/core/src/work/worker/worker.ts').get('WorkerStats')?.members ?? [];
  expect(members.length).toBeGreaterThan(0);
  expect(tableRows(page, 'WorkerStats').map(([name = '']) => plain(name))).toEqual(members.map(({ name }) => name));
});

test('every code of the page is one', () => {
  const named = [...new Set(page.text.match(/\bLEASEHOLD_[A-Z_]+/g))];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((code) => !(code in errorCodes))).toEqual([]);
});
