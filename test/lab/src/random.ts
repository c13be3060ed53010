/** A number from 0 up to, not including, 1. */
export type Random = () => number;

/** Mulberry32: small, fast, and the same on every machine, so that a seed names a run. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 up to, not including, `below`. */
export function randomInteger(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function randomBetween(random: Random, [from, to]: readonly [number, number]): number {
  return from + random() * (to - from);
}

/** A new array in another order (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = randomInteger(random, index + 1);
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}
