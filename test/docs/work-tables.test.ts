import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findings } from '../../packages/core/src/work/doctor/findings.ts';
import { plain, readPage, root, tableRows } from './support/pages.ts';

const page = readPage('docs/reference/work-tables.md');

test('lists exactly the findings of the doctor', () => {
  const told = tableRows(page, 'Findings').map(([code = '', severity = '', meaning = '']) => [plain(code), severity, meaning]);
  expect(told).toEqual(Object.entries(findings).map(([code, { severity, meaning }]) => [code, severity, meaning]));
});

describe('what ddl() adds', () => {
  const text = readFileSync(join(root, 'packages/core/test/work/catalog.json'), 'utf8');
  const catalog = JSON.parse(text) as {
    readonly columns: readonly { readonly column: string; readonly type: string; readonly notNull: boolean }[];
    readonly relations: readonly { readonly name: string; readonly options: readonly string[] | null }[];
  };

  test('are the columns of the catalog', () => {
    const [lockId, lockedUntil] = tableRows(page, 'Columns').map((cells) => cells.slice(0, 3).map(plain));
    const meant = catalog.columns
      .filter(({ column }) => column.startsWith('lock'))
      .map(({ column, type, notNull }) => [column, type, notNull ? 'no' : 'yes']);
    expect([lockId, lockedUntil]).toEqual(meant);
  });

  test('are the settings of the catalog', () => {
    const told = tableRows(page, 'Settings').map(([name = '', value = '']) => `${plain(name)}=${plain(value)}`);
    expect(told).toEqual(catalog.relations.find(({ name }) => name === 'deliveries')?.options);
  });

  test('are indexes and checks for each purpose', () => {
    const told = ['Checks', 'Indexes'].flatMap((heading) => tableRows(page, heading).map(([purpose = '']) => plain(purpose)));
    const meant = [...new Set(text.match(/(?<=deliveries_)\w+(?=_[0-9a-f]{8}")/g))];
    expect(told.toSorted()).toEqual(meant.toSorted());
  });
});

test('lists every SQLSTATE that the SQL raises', () => {
  const files = ['block', 'requirements', 'steps', 'verify'];
  const source = files.map((file) => readFileSync(join(root, `packages/core/src/work/ddl/${file}.ts`), 'utf8')).join('');
  const raised = [...source.matchAll(/(?:state: |errcode = )'(\w{5})'/g)].map(([, state]) => state);
  const told = tableRows(page, 'When it is refused').map(([code = '']) => plain(code));
  expect(told.toSorted()).toEqual([...new Set(raised)].toSorted());
});
