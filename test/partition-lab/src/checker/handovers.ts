import type { DatabaseTerm, LeaseChange } from '../../../lab/src/checker/history.ts';
import type { Handover } from './history.ts';

/** Tells of each term whether it was given back; otherwise its time ran out. */
export function releasesOf(changes: readonly LeaseChange[]): (term: DatabaseTerm) => boolean {
  const released = new Set(changes.filter(({ holder }) => holder === null).map(({ role, at }) => `${role} ${at}`));
  return ({ role, until }) => released.has(`${role} ${until}`);
}

/** Every time that a role was taken, given back or lost, in order. An instance that takes its own row anew goes on holding. */
export function handoversOf(
  terms: ReadonlyMap<string, readonly DatabaseTerm[]>,
  isReleased: (term: DatabaseTerm) => boolean,
): Handover[] {
  return [...terms.values()].flatMap((ofRole) => ofTheRole(ofRole, isReleased)).sort((a, b) => a.at - b.at);
}

function ofTheRole(terms: readonly DatabaseTerm[], isReleased: (term: DatabaseTerm) => boolean): Handover[] {
  return terms.flatMap((term, index) => {
    const { role, holder, acquiredAt, until } = term;
    const [before, next] = [terms[index - 1], terms[index + 1]];
    const goesOn = next !== undefined && next.holder === holder && next.acquiredAt <= until;
    const wentOn = before !== undefined && before.holder === holder && acquiredAt <= before.until;
    return [
      ...(wentOn ? [] : [{ kind: 'taken', role, holder, at: acquiredAt } as const]),
      ...(goesOn ? [] : [{ kind: isReleased(term) ? 'released' : 'expired', role, holder, at: until } as const]),
    ];
  });
}
