import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { type Page, proseLines, readPage, readPages, root } from './support/pages.ts';

interface Link {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

/** `[text](target)`, `![text](target)`, `src="target"`, `href="target"`. Code is no place for links. */
function linksOf(page: Page): Link[] {
  return proseLines(page).flatMap((line, index) => {
    const prose = line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
    const found = [...prose.matchAll(/\]\(<?([^)\s>]+)>?\)|(?:src|href)="([^"]+)"/g)];
    return found.map(([, target, attribute]) => ({ page: page.path, line: index + 1, target: target ?? attribute ?? '' }));
  });
}

/** The anchors that GitHub gives to headings: lower case, punctuation gone, a number for those that come again. */
function anchorsOf(page: Page): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const line of proseLines(page)) {
    const heading = /^#{1,6} (.*)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function problemOf({ page, target }: Link): string | null {
  if (/^(https:|mailto:)/.test(target)) return null;
  if (/^[a-z]+:/.test(target) || target.startsWith('/')) return 'is neither relative nor https';
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : posix.normalize(posix.join(dirname(page), decodeURI(path)));
  if (file.startsWith('..')) return 'leads out of the repository';
  if (!existsSync(join(root, file))) return 'does not exist';
  if (anchor === undefined) return null;
  if (statSync(join(root, file)).isDirectory() || !file.endsWith('.md')) return 'has an anchor, and is no page';
  return anchorsOf(readPage(file)).has(anchor) ? null : `has no heading for #${anchor}`;
}

const links = readPages().flatMap(linksOf);

test('every relative link leads to a file, and every anchor to a heading', () => {
  const broken = links.flatMap((link) => {
    const problem = problemOf(link);
    return problem === null ? [] : [`${link.page}:${link.line}: ${link.target} ${problem}`];
  });
  expect(broken).toEqual([]);
  expect(links.length).toBeGreaterThan(100);
});

test('every page can be reached from the README by links', () => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    const from = links.filter((link) => link.page === page && !/^[a-z]+:/.test(link.target) && !link.target.startsWith('#'));
    for (const { target } of from) {
      const file = posix.normalize(posix.join(dirname(page), target.split('#')[0] ?? ''));
      if (file.endsWith('.md') && existsSync(join(root, file))) reached.add(file);
    }
  }
  // Notes beside the code may stand for themselves.
  const owned = readPages().filter(({ path }) => !/^(docs\/internals|examples|benchmarks|test)\//.test(path));
  expect(owned.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});
