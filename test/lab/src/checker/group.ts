export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** Each item with the one after it. */
export function* pairs<T>(items: readonly T[]): Generator<readonly [T, T]> {
  for (let index = 1; index < items.length; index += 1) yield [items[index - 1] as T, items[index] as T];
}

/** Microseconds as milliseconds, for people. */
export function ms(us: number): string {
  return `${(us / 1_000).toFixed(1)} ms`;
}
