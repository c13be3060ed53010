import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { RefusedRows } from '../../src/work/refused-rows.ts';
import { resolveWorkTable } from '../../src/work/resolve-work-table.ts';
import { sql } from '../../src/work/sql.ts';
import { spyLogger } from '../support/spy-logger.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function setUp() {
  const [clock, logger] = [manualClock(), spyLogger()];
  const table = resolveWorkTable({ table: 'deliveries', orderBy: 'created_at', live: sql`done is null`, clock, logger });
  return { clock, logger, rows: new RefusedRows(table) };
}

const refusal = (id: string) => ({ ref: [id], error: new Error('no') });

describe('a row that was refused', () => {
  test('is left out for a lease, then for ever longer, up to an hour, and told once', () => {
    const { clock, logger, rows } = setUp();
    const outFor: number[] = [];
    for (let time = 0; time < 9; time++) {
      rows.leaveOut(refusal('1'), 30 * SECOND);
      let ms = 0;
      for (; rows.refs.length > 0; ms += 30 * SECOND) clock.jump(30 * SECOND);
      outFor.push(ms / SECOND);
    }
    expect(outFor).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    expect(logger.lines).toHaveLength(1);
  });

  test('is left out for no less than the lease', () => {
    const { clock, rows } = setUp();
    rows.leaveOut(refusal('1'), 3 * HOUR);
    clock.jump(3 * HOUR - 1);
    expect(rows.refs).toEqual([['1']]);
    clock.jump(1);
    expect(rows.refs).toEqual([]);
  });

  test('and not again for an hour is news when it is', () => {
    const { clock, logger, rows } = setUp();
    rows.leaveOut(refusal('1'), SECOND);
    clock.jump(HOUR + 2 * SECOND);
    expect(rows.refs).toEqual([]);
    rows.leaveOut(refusal('1'), SECOND);
    clock.jump(SECOND);
    expect(rows.refs).toEqual([]);
    expect(logger.lines).toHaveLength(2);
  });

  test('is forgotten when a thousand others came after it', () => {
    const { rows } = setUp();
    for (let id = 0; id < 1_000; id++) rows.leaveOut(refusal(String(id)), SECOND);
    rows.leaveOut(refusal('0'), SECOND);
    rows.leaveOut(refusal('1000'), SECOND);
    expect([rows.refs.length, rows.refs.at(0), rows.refs.at(-2)]).toEqual([1_000, ['2'], ['0']]);
  });
});
