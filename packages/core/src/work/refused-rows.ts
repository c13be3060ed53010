import { publish } from '../diagnostics.ts';
import type { ResolvedWorkTable } from './resolve-work-table.ts';
import { errorText } from './storable.ts';

/** As many as a claim can name beside its work; of more, the first are tried again early. */
const MOST_ROWS = 1_000;
/** Whoever puts right what refuses a row does not want to wait for days, or to restart. */
const LONGEST_MS = 3_600_000;
const LONGEST_TEXT = 200;

/** The id of a row, as text. */
export type Ref = readonly string[];

/** Of which row, and what the database said. */
export interface Refusal {
  readonly ref: Ref;
  readonly error: unknown;
}

interface RefusedRow {
  readonly ref: Ref;
  readonly times: number;
  /** By the monotonic clock: then it is tried again. */
  readonly outUntilMs: number;
}

const NONE: readonly Ref[] = [];

/**
 * Rows that the database did not let this process claim, and that are left out of its claims for a while: for a lease, then for twice
 * as long, up to an hour.
 *
 * Each is told once to the log, and each time to subscribers. Kept in memory alone. To write it into the row may be just what is refused; and a process with other options may well claim it.
 */
export class RefusedRows {
  readonly #table: ResolvedWorkTable;
  /** In the order in which they were refused last. */
  readonly #rows = new Map<string, RefusedRow>();

  constructor(table: ResolvedWorkTable) {
    this.#table = table;
  }

  /** Those to leave out now. */
  get refs(): readonly Ref[] {
    if (this.#rows.size === 0) return NONE;
    const now = this.#table.clock.monotonic();
    const out: Ref[] = [];
    for (const [key, { ref, outUntilMs }] of this.#rows) {
      if (now < outUntilMs) out.push(ref);
      // It has been claimed since, or is gone: else it would have been refused once more.
      else if (now > outUntilMs + LONGEST_MS) this.#rows.delete(key);
    }
    return out;
  }

  leaveOut({ ref, error }: Refusal, leaseMs: number): void {
    const key = JSON.stringify(ref);
    const times = (this.#rows.get(key)?.times ?? 0) + 1;
    const outMs = Math.min(leaseMs * 2 ** Math.min(times - 1, 30), Math.max(leaseMs, LONGEST_MS));
    this.#rows.delete(key);
    this.#rows.set(key, { ref, times, outUntilMs: this.#table.clock.monotonic() + outMs });
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > MOST_ROWS && oldest !== undefined) this.#rows.delete(oldest);
    const what = times === 1 ? 'a row is left out of claims, as the database refuses what they write into it' : null;
    this.#tell({ ref, error }, what);
  }

  buried(refusal: Refusal): void {
    this.#tell(refusal, 'a row is put away, as the database refuses to have another attempt of it counted');
  }

  #tell({ ref, error }: Refusal, what: string | null): void {
    const { id, logger, table } = this.#table;
    const row = Object.fromEntries(id.map((column, index) => [column, ref[index]]));
    const said = errorText(error, { maxLength: LONGEST_TEXT });
    if (what !== null) logger.warn({ err: error, table: table.name, row }, `${what}: ${said}`);
    publish('leasehold:work.refused', { table: table.name, row, error });
  }
}
