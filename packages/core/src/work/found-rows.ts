import type { Clock } from '../clock.ts';
import { ClaimedRow } from './claimed-row.ts';
import type { Deadline } from './deadline.ts';

/** What a claim has got, by one statement or more. */
export interface Found<Row extends object> {
  readonly rows: readonly ClaimedRow<Row>[];
  readonly buried: number;
}

/** A row of the answer, with what is told beside it. */
export interface FoundRow {
  /** Of an id of several columns, their texts. */
  readonly leasehold_ref: string | readonly string[] | null;
  /** Of a table whose rows can be put away. */
  readonly leasehold_buried?: number;
  /** Where the round of the groups goes on. */
  readonly leasehold_after?: readonly (string | null)[] | null;
  /** Not all groups were looked at. */
  readonly leasehold_cut?: boolean;
  /** 1 when the round has passed its beginning. */
  readonly leasehold_lap?: number;
}

export function refOf(told: string | readonly string[]): readonly string[] {
  return typeof told === 'string' ? [told] : told;
}

/** Copies the columns by name: to take away what is told beside them would make slow objects for the application. */
export function claimedRows<Row extends object>(
  found: readonly FoundRow[],
  columns: readonly string[],
  lease: { clock: Clock; until: Deadline },
): ClaimedRow<Row>[] {
  const rows: ClaimedRow<Row>[] = [];
  for (const one of found) {
    if (one.leasehold_ref === null) continue;
    const row: Record<string, unknown> = {};
    for (const column of columns) row[column] = (one as unknown as Record<string, unknown>)[column];
    rows.push(new ClaimedRow(row as Row, refOf(one.leasehold_ref), lease));
  }
  return rows;
}
