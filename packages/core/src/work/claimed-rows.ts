import type { Clock } from '../clock.ts';
import { LeaseholdError, showValue } from '../errors.ts';
import type { ClaimedRow } from './claimed-row.ts';
import { type Deadline, earliest, timeLeft } from './deadline.ts';
import type { RowRef } from './fate.ts';

/** The rows of a claim, found by the row itself or by its id. */
export class ClaimedRows<Row extends object> {
  readonly all: readonly ClaimedRow<Row>[];
  readonly #id: readonly string[];
  readonly #byRow = new Map<object, ClaimedRow<Row>>();
  /** Made when a row is first asked for by its id. */
  #byId: ReadonlyMap<string, ClaimedRow<Row>> | null = null;

  constructor(id: readonly string[], rows: readonly ClaimedRow<Row>[]) {
    this.#id = id;
    this.all = rows;
    for (const row of rows) this.#byRow.set(row.row, row);
  }

  get open(): readonly ClaimedRow<Row>[] {
    return this.all.filter((row) => row.isOpen);
  }

  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROW when it is none of this claim's. */
  find(ref: RowRef): ClaimedRow<Row> {
    const isObject = typeof ref === 'object' && ref !== null;
    const found = isObject ? (this.#byRow.get(ref) ?? this.#byColumns(ref)) : this.#byValues([ref]);
    if (found !== undefined) return found;
    throw new LeaseholdError(
      'LEASEHOLD_UNKNOWN_ROW',
      `${showValue(ref)} is no row of this claim; give a row of claim.rows, or its id (${this.#id.join(', ')}) exactly as it is there.`,
    );
  }

  #byColumns(ref: object): ClaimedRow<Row> | undefined {
    const values: unknown[] = this.#id.map((column) => Reflect.get(ref, column));
    return this.#byValues(values);
  }

  #byValues(values: readonly unknown[]): ClaimedRow<Row> | undefined {
    if (!values.every(isExact)) return undefined;
    this.#byId ??= new Map(this.all.map((row) => [keyOf(row.ref), row]));
    return this.#byId.get(keyOf(values.map(String)));
  }
}

/** A bigint that a driver read as a number may have lost its last digits, and be the id of another row: better none than that. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  return typeof value === 'string' || typeof value === 'bigint';
}

function keyOf(ref: readonly string[]): string {
  return ref.length === 1 ? (ref[0] ?? '') : JSON.stringify(ref);
}

/** Milliseconds until the first lease of these ends; 0 where one is not believed in any more, and Infinity of no rows. The clocks are asked once. */
export function leastTimeLeft(rows: readonly ClaimedRow<object>[], clock: Clock): number {
  const deadlines: Deadline[] = [];
  for (const { until } of rows) {
    if (until === null) return 0;
    deadlines.push(until);
  }
  const first = earliest(deadlines);
  return first === null ? Number.POSITIVE_INFINITY : timeLeft(clock, first);
}
