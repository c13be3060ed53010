import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** By page, what the short names on it stand for. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'lease-failures.md': {
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
  },
  'work-failures.md': {
    claim: 'work/claim.pg.test.ts',
    fencing: 'work/fencing.pg.test.ts',
    settling: 'work/settling.pg.test.ts',
    renewal: 'work/renewal.pg.test.ts',
    values: 'work/values.pg.test.ts',
    transactions: 'work/transactions.pg.test.ts',
    faults: 'work/faults.pg.test.ts',
    poolers: 'work/poolers.pg.test.ts',
    input: 'work/bad-input.pg.test.ts',
    history: 'work/history.pg.test.ts',
    plan: 'work/claim-plan.pg.test.ts',
    groups: 'work/claim-by-group.pg.test.ts',
    cost: 'work/claim-cost.pg.test.ts',
    poison: 'work/poison.pg.test.ts',
    ddl: 'work/ddl.pg.test.ts',
    doctor: 'work/doctor.pg.test.ts',
    upkeep: 'work/upkeep.pg.test.ts',
    backoff: 'work/backoff.test.ts',
    worker: 'work/worker.pg.test.ts',
    leases: 'work/worker-lease.test.ts',
    outcomes: 'work/worker-outcomes.test.ts',
    pace: 'work/worker-pace.test.ts',
    writes: 'work/worker-settle.test.ts',
    stop: 'work/worker-stop.test.ts',
  },
};

describe.each(Object.keys(PAGES))('the failures of others on %s', (name) => {
  const page = readFileSync(join(root, 'docs/internals', name), 'utf8');
  const named = [...page.matchAll(/\| `(\w+)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({ file, title }));

  test('are each held off by a test', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (what goes|---)/.test(line));
    expect(rows.length).toBeGreaterThan(30);
    expect(named).toHaveLength(rows.length);
  });

  test.for(named)('$file: $title', ({ file, title }) => {
    const source = readFileSync(join(root, 'packages/core/test', PAGES[name]?.[file] ?? 'none'), 'utf8');
    expect(source).toContain(`'${title}'`);
  });
});
