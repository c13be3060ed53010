import type { SetValues } from '../set-values.ts';
import type { Sql } from '../sql.ts';

/** The values of the `groupBy` columns, in their order. */
export type Group = readonly unknown[];

export interface ClaimRequest {
  readonly token: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly where: Sql | null;
  /** Of this group alone. */
  readonly group: Readonly<Record<string, unknown>> | null;
  /** Evenly of these groups: what a claim may take is a list, such as the roles held here and NULL. Else, of all that there are. */
  readonly groups: readonly Group[] | null;
  /** The ids, as text, of rows that were refused a short while ago: they are left out. */
  readonly without: readonly (readonly string[])[];
  /** Where the round of the groups goes on. */
  readonly round: Round;
  readonly onClaim: SetValues;
  readonly columns: readonly string[];
  /** After how many milliseconds nobody waits for the answer; null within a transaction of the caller's. */
  readonly givenUpAfterMs: number | null;
}

/** How far claims have come in serving one group after the other. */
export interface Round {
  /** The group that was served last, as texts; null before the first. */
  readonly after: readonly (string | null)[] | null;
  /** Counts claims, so that a list of groups begins with another one each time. */
  readonly turn: number;
}

export const FIRST_ROUND: Round = { after: null, turn: 0 };
