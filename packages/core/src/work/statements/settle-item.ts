import type { OutcomeName } from '../fate.ts';
import type { SetValue } from '../set-values.ts';

/** One row to be settled: where its id is, and what is written. */
export interface SettleItem {
  /** The id's columns as text. */
  readonly ref: readonly string[];
  readonly outcome: OutcomeName;
  /** Of a retry: milliseconds from the moment of settling, or a point in time. */
  readonly after: number | Date | null;
  readonly refund: boolean;
  /** Of a burial. */
  readonly reason: string | null;
  readonly set: readonly (readonly [column: string, value: SetValue])[];
}
