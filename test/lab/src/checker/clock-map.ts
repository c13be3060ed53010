import type { ClockSample, Span } from './history.ts';

/** Two clocks of one machine may be slewed against each other; a sample this near is not off by more than some tens of µs. */
const NEAR_US = 2_000_000;
const SLEW = 0.0005;

/** Tells when, on the machine's monotonic clock, the database's clock showed a time: never exactly, always within bounds. */
export class ClockMap {
  readonly #samples: readonly ClockSample[];

  constructor(samples: readonly ClockSample[]) {
    this.#samples = [...samples].sort((a, b) => a.database - b.database);
  }

  toMonotonic(database: number): Span {
    const sample = this.#best(database);
    if (sample === undefined) return { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
    const slack = Math.abs(database - sample.database) * SLEW;
    const since = database - sample.database;
    return { from: sample.from + since - slack, to: sample.to + since + slack };
  }

  /** The tightest of the samples near the time; the nearest when the database was gone around it. */
  #best(database: number): ClockSample | undefined {
    const index = this.#firstFrom(database - NEAR_US);
    let best: ClockSample | undefined;
    for (let at = index; at < this.#samples.length; at += 1) {
      const sample = this.#samples[at] as ClockSample;
      if (sample.database > database + NEAR_US) break;
      if (best === undefined || width(sample) < width(best)) best = sample;
    }
    return best ?? this.#nearest(index, database);
  }

  #nearest(index: number, database: number): ClockSample | undefined {
    const around = [this.#samples[index - 1], this.#samples[index]].filter((sample) => sample !== undefined);
    around.sort((a, b) => Math.abs(a.database - database) - Math.abs(b.database - database));
    return around[0];
  }

  #firstFrom(database: number): number {
    let low = 0;
    let high = this.#samples.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#samples[middle] as ClockSample).database < database) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function width({ from, to }: Span): number {
  return to - from;
}
