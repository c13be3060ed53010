/** One planned fault. What it strikes at run time depends on who holds what by then; what is planned does not. */
export interface PlannedFault {
  /** Milliseconds after the faults begin. */
  readonly atMs: number;
  readonly kind: string;
  readonly lastsMs: number;
  /** Strikes the holder of this role, by number. */
  readonly role: number;
  /** Strikes this process instead when `preferHolder` is false, or when the holder is not known or has enough to bear. */
  readonly slot: number;
  readonly preferHolder: boolean;
  /** From 0 up to 1, for what else there is to choose. */
  readonly draw: number;
}

/** What the plan has to know about a kind of fault. */
export interface FaultKind {
  readonly kind: string;
  /** One instance, rows, or the database for all: of the last, one at a time. */
  readonly strikes: 'process' | 'row' | 'database';
  /** Shortest and longest duration in milliseconds. */
  readonly lasts: readonly [number, number];
}
