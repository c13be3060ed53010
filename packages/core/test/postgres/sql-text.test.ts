import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../src/postgres/sql/', import.meta.url);
const files = readdirSync(folder).filter((file) => file !== 'parts.ts');

/** A statement's text without the comments around and inside it. */
function statement(file: string): string {
  const source = readFileSync(new URL(file, folder), 'utf8');
  return source.slice(source.indexOf('return `')).replaceAll(/--.*$/gm, '');
}

describe.each(files)('%s', (file) => {
  it('never uses a clock that stands still from the start of the transaction', () => {
    expect(statement(file)).not.toMatch(
      /\bnow\s*\(|\bcurrent_timestamp\b|\btransaction_timestamp\b|\bstatement_timestamp\b|\blocaltimestamp\b/i,
    );
  });

  it('waits for no row lock, except the fence and the guard, which are the caller’s own statements', () => {
    const waits = ['fence.ts', 'guard.ts', 'create-rows.ts'].includes(file);
    const locks = [...statement(file).matchAll(/for (?:no key )?update(?: of \w+)?(?<skip> skip locked)?/gi)];
    if (!waits) expect(locks.every((lock) => lock.groups?.['skip'] !== undefined)).toBe(true);
  });

  it('names every table with its schema, for connections with any search_path', () => {
    const tables = /(?:from|join|update|into)\s+(role_lease|role_term|instance|fence_guard|migration)\b/i;
    expect(statement(file)).not.toMatch(tables);
  });
});
