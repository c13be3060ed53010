import { sql, workTable, type WorkTableOptions } from '@leasehold/core/work';
import { describe, expect, test } from 'vitest';
import { objectName } from '../../src/work/ddl/object-name.ts';
import { claimIndex } from '../../src/work/ddl/indexes.ts';
import { dollarQuote, quoteLiteral } from '../../src/work/ddl/quote-literal.ts';
import { resolveWorkTable } from '../../src/work/resolve-work-table.ts';
import { raw } from '../../src/work/sql.ts';
import { resolveTableName } from '../../src/work/work-table-name.ts';

const OPTIONS: WorkTableOptions = { table: 'deliveries', orderBy: 'created_at', live: sql`completed_at is null` };

function indexOf(options: Partial<WorkTableOptions> = {}): { name: string; definition: string } {
  return claimIndex(resolveWorkTable({ ...OPTIONS, ...options }));
}

describe('names of indexes and checks', () => {
  test('are always the same: another release must not build the index of every table anew', () => {
    expect(indexOf().name).toBe('deliveries_claim_2655849c');
  });

  test.for(['x'.repeat(63), 'ß'.repeat(31), '界'.repeat(21), '💥'.repeat(15)])(
    'are whole characters, 63 bytes at most: %s',
    (table) => {
      const name = objectName(resolveTableName([table]), 'attempts', 'definition');
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
      expect(Buffer.byteLength(name)).toBeGreaterThan(58);
      expect(name.isWellFormed()).toBe(true);
      expect(name).toMatch(/_attempts_[0-9a-f]{8}$/);
    },
  );

  test('differ for tables that are cut to the same', () => {
    const [one, other] = ['1', '2'].map((end) =>
      objectName(resolveTableName([`${'x'.repeat(62)}${end}`]), 'claim', 'definition'),
    );
    expect(one).not.toBe(other);
  });

  test.for<[string, Partial<WorkTableOptions>]>([
    ['live', { live: sql`failed_at is null` }],
    ['orderBy', { orderBy: 'due_at' }],
    ['id', { id: ['id', 'part'] }],
    ['groupBy', { groupBy: 'tenant' }],
    ['priority', { priority: { column: 'priority', values: [1] } }],
    ['columns', { columns: { lockedUntil: 'until' } }],
  ])('differ with %s', ([, options]) => {
    expect(indexOf(options).name).not.toBe(indexOf().name);
  });

  test('do not differ with the layout of live, but with the spaces in its texts', () => {
    expect(
      indexOf({
        live: sql`completed_at
      is   null`,
      }),
    ).toEqual(indexOf());
    expect(indexOf({ live: sql`kind = 'a  b'` }).name).not.toBe(indexOf({ live: sql`kind = 'a b'` }).name);
  });
});

describe('a live that is more than one condition is refused', () => {
  test.for([
    'completed_at is null) or (true',
    '(completed_at is null',
    'completed_at is null)',
    "kind = 'a",
    'kind = "a',
    "kind = E'a\\' and (true",
    'true; drop table deliveries',
    'true -- and the rest',
    'true /* and the rest',
    '$$) or (true$$ is not null',
    '$x$ $x$ is null',
  ])('%s', (live) => {
    expect(() => workTable({ ...OPTIONS, live: raw(live) })).toThrow(
      expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option: 'live' }),
    );
  });

  test.for([
    "kind = 'a)'",
    `"odd ) ""column" is null`,
    "kind = 'it''s ('",
    "kind = E'it\\'s ('",
    "kind = 'a\\'",
    "kind like '$x$%'",
    'f((a), (b))',
  ])('and this one is not: %s', (live) => {
    expect(workTable({ ...OPTIONS, live: raw(live) }).ddl()).toContain('create index');
  });
});

test('quotes take whatever there is', () => {
  expect(quoteLiteral("it's")).toBe("'it''s'");
  expect(quoteLiteral("\\'")).toBe(" E'\\\\'''");
  expect(dollarQuote('$leasehold$ $leasehold_1$')).toBe('$leasehold_2$\n$leasehold$ $leasehold_1$\n$leasehold_2$');
});

test('options are checked', () => {
  const table = workTable(OPTIONS);
  const refused = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });
  expect(() => table.ddl({ concurrently: true } as never)).toThrow(refused('concurrently'));
  expect(() => table.ddl({ autovacuum: 1 } as never)).toThrow(refused('autovacuum'));
  expect(() => table.ddlStatements({ purgeIndex: '' })).toThrow(refused('purgeIndex'));
});
