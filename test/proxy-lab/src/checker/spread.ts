export interface Spread {
  /** From the first to the last, as a share of the interval. */
  readonly width: number;
  /** The largest share of all that falls within a tenth of the interval. */
  readonly densest: number;
}

/** How evenly instants lie within an interval of so many units. */
export function spreadOf(instants: readonly number[], interval: number): Spread {
  const sorted = [...instants].sort((a, b) => a - b);
  const window = interval / 10;
  let densest = 0;
  for (let from = 0, to = 0; to < sorted.length; to += 1) {
    while ((sorted[to] as number) - (sorted[from] as number) > window) from += 1;
    densest = Math.max(densest, to - from + 1);
  }
  return {
    width: ((sorted.at(-1) ?? 0) - (sorted[0] ?? 0)) / interval,
    densest: sorted.length === 0 ? 0 : densest / sorted.length,
  };
}
