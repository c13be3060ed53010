/** Who holds which role; a role that nobody holds is left out. */
export type Holdings = ReadonlyMap<string, string>;

/**
 * The least number of roles that have to change hands until `members` hold all of `roles` within one of even: those that
 * nobody holds who takes part, and what anybody holds beyond its share. Whoever has the most is left the shares that are one
 * larger.
 */
export function leastMoves(holdings: Holdings, members: readonly string[], roles: readonly string[]): number {
  if (members.length === 0) return 0;
  const counts = countsOf(holdings, members, roles);
  const held = [...counts.values()].sort((a, b) => b - a);
  const share = Math.floor(roles.length / members.length);
  const larger = roles.length % members.length;
  const excess = held.reduce((sum, count, place) => sum + Math.max(0, count - share - (place < larger ? 1 : 0)), 0);
  return roles.length - held.reduce((sum, count) => sum + count, 0) + excess;
}

/** Every role is held, and nobody has two more than anybody else. */
export function isEven(holdings: Holdings, members: readonly string[], roles: readonly string[]): boolean {
  const counts = [...countsOf(holdings, members, roles).values()];
  const all = counts.reduce((sum, count) => sum + count, 0);
  return all === roles.length && Math.max(...counts) - Math.min(...counts) <= 1;
}

function countsOf(holdings: Holdings, members: readonly string[], roles: readonly string[]): Map<string, number> {
  const counts = new Map(members.map((member) => [member, 0]));
  for (const role of roles) {
    const holder = holdings.get(role);
    const count = holder === undefined ? undefined : counts.get(holder);
    if (count !== undefined) counts.set(holder as string, count + 1);
  }
  return counts;
}
