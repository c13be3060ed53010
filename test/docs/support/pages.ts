import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '..', '..', '..');

/** A page by its path from the root of the repository, with `/` between its parts. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const PATTERNS = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*/README.md', 'benchmarks/*.md', 'test/*/README.md'];

/** Every page that a reader of the repository meets. */
export function readPages(): Page[] {
  const paths = globSync(PATTERNS, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return paths.toSorted().map(readPage);
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(root, path), 'utf8') };
}

/** The lines of a page that are not code, each in its place; those of code are empty. */
export function proseLines({ text }: Page): string[] {
  let fence = '';
  return text.split('\n').map((line) => {
    const mark = /^ *(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const inside = fence !== '';
    if (!inside) fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    return inside || mark !== '' ? '' : line;
  });
}

/** The rows of every table under the heading given, up to the next heading of its level or above; without their head. */
export function tableRows(page: Page, heading: string): string[][] {
  const lines = proseLines(page);
  const start = lines.findIndex((line) => /^#+ /.test(line) && plain(line.replace(/^#+ /, '')) === heading);
  if (start === -1) throw new Error(`${page.path} has no heading "${heading}"`);
  const level = (lines[start] ?? '').indexOf(' ');
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level);
  const section = end === -1 ? rest : rest.slice(0, end);
  return section.filter((_, index) => isBodyRow(section, index)).map(cellsOf);
}

/** A row with a separator somewhere above it in the same table. */
function isBodyRow(lines: readonly string[], index: number): boolean {
  if (!lines[index]?.startsWith('|') || isSeparator(lines[index])) return false;
  for (let above = index - 1; lines[above]?.startsWith('|'); above -= 1) {
    if (isSeparator(lines[above] as string)) return true;
  }
  return false;
}

function isSeparator(line: string): boolean {
  return /^\|[ :|-]+\|$/.test(line);
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** Without the marks of code, which headings and cells put around names. */
export function plain(markdown: string): string {
  return markdown.replaceAll('`', '').trim();
}

/** The text of the headings of one level, without the marks of code. */
export function headings(page: Page, level: number): string[] {
  const mark = `${'#'.repeat(level)} `;
  return proseLines(page)
    .filter((line) => line.startsWith(mark))
    .map((line) => plain(line.slice(mark.length)));
}
