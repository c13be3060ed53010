import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diagnosticChannels, errorCodes } from '@leasehold/core';
import { proxyDiagnosticChannels } from '@leasehold/proxy';
import { describe, expect, test } from 'vitest';
import { refusals } from '../../packages/proxy/src/refusal.ts';
import { type Member, readInterfaces } from './support/interfaces.ts';
import { headings, type Page, plain, proseLines, readPage, root, tableRows } from './support/pages.ts';

/** The first paragraph under a heading, on one line. */
function firstParagraph(page: Page, heading: string): string {
  const lines = proseLines(page);
  const start = lines.findIndex((line) => /^#+ /.test(line) && plain(line.replace(/^#+ /, '')) === heading);
  const rest = lines
    .slice(start + 1)
    .join('\n')
    .trimStart();
  return plain((rest.split(/\n\s*\n/)[0] ?? '').replaceAll('\n', ' '));
}

describe('errors.md', () => {
  const page = readPage('docs/reference/errors.md');

  test('lists exactly the codes', () => {
    expect(headings(page, 3).toSorted()).toEqual(Object.keys(errorCodes).toSorted());
  });

  test.for(Object.entries(errorCodes))('%s has the text of the registry, says when, and how to mend it', ([code, text]) => {
    expect(firstParagraph(page, code)).toBe(text);
    const section = page.text.split(`### ${code}\n`)[1]?.split('\n#')[0] ?? '';
    expect(section).toMatch(/\*When:\*\s+\S/);
    expect(section).toMatch(/\*Fix:\*\s+\S/);
  });
});

describe('diagnostics.md', () => {
  const page = readPage('docs/reference/diagnostics.md');
  const core = readInterfaces('packages/core/src/diagnostics.ts');
  const proxy = readInterfaces('packages/proxy/src/diagnostics.ts');
  const interfaces = new Map([...core, ...proxy]);

  /** The types of the messages, as text: their interfaces name each channel with the type of its message. */
  const messages = new Map(
    ['packages/core/src/diagnostics.ts', 'packages/proxy/src/diagnostics.ts'].flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}'(leasehold:[\w.]+)': (.+);$/gm)].map(
        ([, channel = '', type = '']): [string, string] => [channel, type],
      ),
    ),
  );

  function membersOf(type: string): readonly Pick<Member, 'name' | 'type'>[] {
    return type.split(' & ').flatMap((part) => {
      if (part.startsWith('{')) {
        return [...part.matchAll(/readonly (\w+): ([\w| ']+)/g)].map(([, name = '', of = '']) => ({ name, type: of.trim() }));
      }
      const found = interfaces.get(part);
      if (found === undefined) throw new Error(`there is no interface ${part}`);
      return [...found.bases.flatMap((base) => membersOf(base)), ...found.members];
    });
  }

  const channels = [...diagnosticChannels.keys(), ...proxyDiagnosticChannels.keys()];

  test('lists exactly the channels', () => {
    expect(headings(page, 3)).toEqual(channels);
    expect([...messages.keys()]).toEqual(channels);
  });

  test.for(channels)('%s has exactly the fields of its message', (channel) => {
    const told = tableRows(page, channel).map(([name = '', type = '']) => ({ name: plain(name), type: plain(type) }));
    const meant = membersOf(messages.get(channel) ?? '').map(({ name, type }) => ({ name, type }));
    expect(meant.length).toBeGreaterThan(0);
    expect(told).toEqual(meant);
  });
});

test('http-answers.md lists exactly the answers of the proxy', () => {
  const page = readPage('docs/reference/http-answers.md');
  const rows = tableRows(page, 'Answers of the proxy');
  const told = rows.map(([reason = '', status = '', retryAfter = '']) => [plain(reason), Number(status), retryAfter]);
  const meant = Object.entries(refusals).map(([reason, kind]) => [reason, kind.status, kind.retryAfter ?? 'none']);
  expect(told.toSorted()).toEqual(meant.toSorted());
});

test('http-answers.md says which answers leave the outcome unknown', () => {
  const page = readPage('docs/reference/http-answers.md');
  const told = tableRows(page, 'It may have been executed').map(([reason = '']) => plain(reason));
  const meant = Object.entries(refusals).filter(([, kind]) => /may have been executed/i.test(kind.detail));
  expect(told).toEqual(meant.map(([reason]) => reason));
});

interface Catalog {
  readonly columns: readonly {
    readonly table: string;
    readonly column: string;
    readonly type: string;
    readonly nullable: string;
    readonly default: string | null;
  }[];
}

describe('schema.md', () => {
  const page = readPage('docs/reference/schema.md');
  const catalog = JSON.parse(readFileSync(join(root, 'packages/core/src/postgres/migrations/catalog.json'), 'utf8')) as Catalog;
  const tables = [...new Set(catalog.columns.map(({ table }) => table))];

  test('has a section for each table', () => {
    expect(
      headings(page, 2)
        .filter((heading) => heading !== 'Notifications')
        .toSorted(),
    ).toEqual(tables.toSorted());
  });

  test.for(tables)('%s has exactly the columns of the catalog', (table) => {
    const told = tableRows(page, table).map(([column = '', type = '', nullable = '', value = '']) =>
      [column, type, nullable, value].map(plain),
    );
    const columns = catalog.columns.filter((column) => column.table === table);
    expect(told).toEqual(
      columns.map((column) => [column.column, column.type, column.nullable.toLowerCase(), column.default ?? '']),
    );
  });
});

describe('decisions', () => {
  const files = readdirSync(join(root, 'docs', 'decisions'))
    .filter((file) => /^\d/.test(file))
    .toSorted();

  test('are numbered without gaps', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.map((file) => file.slice(0, 5))).toEqual(files.map((_, index) => `${String(index + 1).padStart(4, '0')}-`));
  });

  test('are listed in their order', () => {
    const listed = [...readPage('docs/decisions/README.md').text.matchAll(/\]\((\d{4}-[\w-]+\.md)\)/g)].map(([, file]) => file);
    expect(listed).toEqual(files);
  });

  test.for(files)('%s has its parts', (file) => {
    const page = readPage(`docs/decisions/${file}`);
    expect(headings(page, 1)).toEqual([expect.stringMatching(new RegExp(`^${Number(file.slice(0, 4))}\\. \\S`))]);
    expect(headings(page, 2)).toEqual(['Context', 'Decision', 'Why', 'Alternatives', 'When to look at it again']);
  });
});
