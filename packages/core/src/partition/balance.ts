/** What one member of a fair partition brings, and has. */
export interface Share {
  readonly id: string;
  /** An integer, so that sums are exact and everybody's rounding is the same. */
  readonly weight: number;
  /** How many roles it can hold at most. */
  readonly capacity: number;
  readonly held: number;
}

/**
 * How many of `count` roles each member should hold, by id: in proportion to the weights, and within one of even. Everybody
 * who sees the same comes to the same. The roles that are left over by rounding go to those who have the most already, so
 * that as few as possible move; between equals the id decides.
 */
export function fairShares(count: number, members: readonly Share[]): ReadonlyMap<string, number> {
  const shares = new Map(members.map(({ id }) => [id, 0]));
  let open = members.filter(({ capacity }) => capacity > 0);
  let left = count;
  while (open.length > 0) {
    const full = open.filter(({ weight, capacity }) => (left * weight) / weightOf(open) >= capacity);
    if (full.length === 0) break;
    for (const { id, capacity } of full) shares.set(id, capacity);
    // Whoever cannot take its part leaves it to the others. All at once, so that the order of members does not matter.
    left -= full.reduce((sum, { capacity }) => sum + capacity, 0);
    open = open.filter((member) => !full.includes(member));
  }
  for (const [id, share] of roundedShares(left, open)) shares.set(id, share);
  return shares;
}

function roundedShares(count: number, members: readonly Share[]): Map<string, number> {
  const total = weightOf(members);
  const parts = members.map((member) => {
    const exact = (count * member.weight) / total;
    return { ...member, share: Math.floor(exact), isExact: Number.isInteger(exact) };
  });
  let left = count - parts.reduce((sum, { share }) => sum + share, 0);
  const byClaim = parts.toSorted(
    (a, b) => Number(a.isExact) - Number(b.isExact) || b.held - b.share - (a.held - a.share) || compare(a.id, b.id),
  );
  return new Map(byClaim.map(({ id, share }) => [id, left-- > 0 ? share + 1 : share]));
}

function weightOf(members: readonly Share[]): number {
  return members.reduce((sum, { weight }) => sum + weight, 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
