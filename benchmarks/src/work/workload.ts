/** Told when what is measured begins and ends: what comes before and after is setting up and taking down. */
export interface Stopwatch {
  begin(): void;
  end(): void;
}

/** One way to have many rows worked off, on a database of its own. */
export interface Workload {
  /** Puts that many rows in, beside those that are done. */
  fill(rows: number): Promise<void>;
  /** Works all rows off, with handlers that do nothing. */
  drain(rows: number, stopwatch: Stopwatch): Promise<void>;
  /** How many rows the database says are done since it was opened, and how many are not. */
  count(): Promise<Counted>;
  close(): Promise<void>;
}

export interface Counted {
  readonly done: number;
  readonly live: number;
}
