import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/internals/proxy.md'), 'utf8');

const FOLDERS: Readonly<Record<string, string>> = {
  matrix: 'test/matrix',
  security: 'test/security',
  proxy: 'packages/proxy/test',
};

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (---|what goes|behaviour|stage|`\w+` \|)/.test(line));

/** `folder/name`: *title*, *title* */
const named = [...page.matchAll(/`(matrix|security|proxy)\/([\w-]+)`: ((?:\*[^*|]+\*(?:, )?)+)/g)].flatMap(
  ([, folder = '', name = '', titles = '']) =>
    [...titles.matchAll(/\*([^*]+)\*/g)].map(([, title = '']) => ({ file: `${FOLDERS[folder]}/${name}.test.ts`, title })),
);

function withoutEscapes(source: string): string {
  return source.replaceAll(String.raw`\'`, "'");
}

describe('how the proxy behaves', () => {
  test('has a test in every row', () => {
    expect(rows.length).toBeGreaterThan(100);
    const without = rows.filter((row) => !/`(matrix|security|proxy)\/[\w-]+`: \*|`packages\/[\w/.-]+\.test\.ts`/.test(row));
    expect(without).toEqual([]);
  });

  test.for(named)('$file: $title', ({ file, title }) => {
    const source = withoutEscapes(readFileSync(join(root, file), 'utf8'));
    expect(['"', "'", '`'].some((quote) => source.includes(`${quote}${title}${quote}`))).toBe(true);
  });
});
