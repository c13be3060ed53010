import { groupBy, ms, pairs } from './group.ts';
import type { DatabaseTerm, FencedWrite, Violation } from './history.ts';

const CHECK = 'stale fenced write';

/** What was written under a fence was written, and committed, before the next term began, and in the order of the tokens. */
export function findStaleWrites(
  writes: readonly FencedWrite[],
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
): Violation[] {
  return [...groupBy(writes, ({ role }) => role)].flatMap(([role, ofRole]) => {
    const termsOfRole = terms.get(role) ?? [];
    return [...ofRole.flatMap((write) => outsideOfTerm(write, termsOfRole)), ...outOfOrder(ofRole)];
  });
}

/** A release or an expiry does not end a fence that is held already; the successor waits for it. So its start is the bound. */
function outsideOfTerm(write: FencedWrite, terms: readonly DatabaseTerm[]): Violation[] {
  const index = terms.findIndex(({ token, holder }) => token === write.token && holder === write.holder);
  const [term, next] = [terms[index], terms[index + 1]];
  if (term === undefined) return [violation(write, 'had no such term')];
  if (write.writtenAt < term.acquiredAt) return [violation(write, 'wrote before its term began')];
  if (next === undefined || write.committedAt <= next.acquiredAt) return [];
  return [
    violation(write, `committed ${ms(write.committedAt - next.acquiredAt)} after ${next.holder} had taken token ${next.token}`),
  ];
}

function outOfOrder(writes: readonly FencedWrite[]): Violation[] {
  const sorted = [...writes].sort((a, b) => a.committedAt - b.committedAt);
  return [...pairs(sorted)]
    .filter(([one, next]) => next.token < one.token)
    .map(([one, next]) => violation(next, `committed after a write with token ${one.token}`));
}

function violation({ role, token, holder }: FencedWrite, why: string): Violation {
  return { check: CHECK, what: `${role}: ${holder} (token ${token}) ${why}` };
}
