import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/internals/lease-failures.md'), 'utf8');

const FILES: Readonly<Record<string, string>> = {
  rules: 'lease/timing-rules.test.ts',
  lease: 'lease/role-lease.test.ts',
  life: 'lifecycle.test.ts',
  input: 'bad-input.test.ts',
  fence: 'postgres/fence.pg.test.ts',
  beat: 'postgres/heartbeat.pg.test.ts',
  connection: 'postgres/connection.pg.test.ts',
  settings: 'postgres/server-settings.pg.test.ts',
  text: 'postgres/sql-text.test.ts',
  migrate: 'postgres/migrate.pg.test.ts',
  share: 'partition/fair-balance.test.ts',
  count: 'partition/participation.test.ts',
  hash: 'partition/partition-hash.test.ts',
};

const named = [...page.matchAll(/\| `(\w+)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }));

describe('the failures of others', () => {
  test('are each held off by a test', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (what goes|---)/.test(line));
    expect(rows.length).toBeGreaterThan(30);
    expect(named).toHaveLength(rows.length);
  });

  test.for(named)('$file: $title', ({ file, title }) => {
    const source = readFileSync(join(root, 'packages/core/test', FILES[file] ?? 'none'), 'utf8');
    expect(source).toContain(`'${title}'`);
  });
});
