import type { Instance } from './instance.ts';
import type { RowLedger } from './row-ledger.ts';
import type { AnnouncedTerm, TermJournal } from './term-journal.ts';

export interface Looked {
  readonly instances: readonly Instance[];
  readonly roles: readonly string[];
  readonly rows: RowLedger;
  readonly journal: TermJournal;
  readonly violate: (what: string) => void;
}

/** What has to be true at every moment, read as an application reads it. Looking is itself a fault: it lets a lease notice its deadline. */
export function look(looked: Looked): void {
  for (const role of looked.roles) {
    const holders: string[] = [];
    for (const instance of looked.instances) {
      if (!instance.runs || !lookAtLease(looked, instance, role)) continue;
      const open = looked.journal.open(instance, role);
      if (open !== undefined && !looked.rows.isOrphan(open.term)) holders.push(instance.name);
    }
    if (holders.length > 1) looked.violate(`${role} is held by ${holders.join(' and ')} at one moment`);
  }
}

/** The answer says whether it is held. */
function lookAtLease({ journal, violate }: Looked, instance: Instance, role: string): boolean {
  const lease = instance.lease(role);
  const { isHeld } = lease;
  const open = journal.open(instance, role);
  const name = `${role} on ${instance.name}`;
  if (isHeld !== (open !== undefined)) violate(`${name} has isHeld ${isHeld} and ${open ? 'an open term' : 'no open term'}`);
  if (open !== undefined) lookAtTerm(violate, open);
  if (!isHeld) {
    if (lease.fencingToken !== null || lease.remainingMs !== 0) violate(`${name} is not held and has a token or time left`);
    return false;
  }
  const proof = instance.evidence.proof(role);
  const left = Math.min(
    (proof?.monotonicUntil ?? 0) - instance.clock.monotonic(),
    (proof?.wallUntil ?? 0) - instance.clock.wall(),
  );
  if (left <= 0) violate(`${name} is held ${-left} ms past its window`);
  if (lease.remainingMs <= 0 || lease.remainingMs > left + ROUNDING_MS)
    violate(`${name} has ${lease.remainingMs} ms left by its word and ${left} ms by the rules`);
  if (lease.fencingToken !== proof?.token) violate(`${name} is held under ${lease.fencingToken}, proven is ${proof?.token}`);
  if (lease.state !== 'held' && lease.state !== 'jeopardy') violate(`${name} is held and its state is ${lease.state}`);
  return true;
}

const ROUNDING_MS = 0.01;

function lookAtTerm(violate: (what: string) => void, { by, term }: AnnouncedTerm): void {
  const { aborted } = term.signal;
  if (aborted === term.isHeld)
    violate(`term ${term.fencingToken} of ${term.role} on ${by.name}: aborted and isHeld are ${aborted}`);
}

/** Every term ever seen: one that is over stays over. */
export function lookAtEveryTerm({ journal, violate }: Looked): void {
  for (const announced of journal.terms) {
    if (!announced.by.runs) continue;
    lookAtTerm(violate, announced);
    if (announced.lost !== null && announced.term.isHeld)
      violate(`term ${announced.term.fencingToken} of ${announced.term.role} rose again`);
  }
}

/** How late a timer of core may end a term: it rounds its delays up to whole milliseconds. */
const TIMER_MS = 2;

/**
 * Terms end at their deadline by themselves, with nobody looking. True after timers have had their time. A wall clock that
 * jumped may stay unnoticed until somebody looks, or the next heartbeat.
 */
export function auditDeadlines({ journal, violate }: Looked): void {
  for (const { by, term } of journal.openTerms) {
    const until = by.evidence.proof(term.role)?.monotonicUntil ?? 0;
    if (by.runs && by.clock.monotonic() > until + TIMER_MS)
      violate(`term ${term.fencingToken} of ${term.role} on ${by.name} did not end at its deadline`);
  }
}
