import type { LeaseState, RoleLease, Term } from '../../packages/core/src/index.ts';
import type { Instance } from './instance.ts';
import type { RowLedger } from './row-ledger.ts';
import type { AnnouncedTerm, TermJournal } from './term-journal.ts';

export interface Looked {
  readonly instances: readonly Instance[];
  readonly roles: readonly string[];
  readonly rows: RowLedger;
  readonly journal: TermJournal;
  /** Changes which question is asked first: it may be the one that lets a lease notice its deadline. */
  readonly turn: number;
  readonly violate: (what: string) => void;
}

/** What has to be true at every moment, read as an application reads it. */
export function look(looked: Looked): void {
  for (const role of looked.roles) {
    const holders: string[] = [];
    for (const instance of looked.instances) {
      if (!instance.runs || !lookAtLease(looked, instance, role)) continue;
      const open = looked.journal.open(instance, role);
      if (open !== undefined && !looked.rows.isOrphan(role, open.generation)) holders.push(instance.name);
    }
    if (holders.length > 1) looked.violate(`${role} is held by ${holders.join(' and ')} at one moment`);
  }
}

/** The answer says whether it is held. */
function lookAtLease({ journal, turn, violate }: Looked, instance: Instance, role: string): boolean {
  const lease = instance.lease(role);
  const begun = journal.open(instance, role);
  const disagreed = begun === undefined ? agree(LEASE_QUESTIONS, lease, turn) : agreeOnTerm(lease, begun.term, turn);
  if (disagreed !== null) violate(`${role} on ${instance.name} is held and not held: ${disagreed}`);
  const { isHeld } = lease;
  if (isHeld !== (journal.open(instance, role) !== undefined))
    violate(`${role} on ${instance.name} has isHeld ${isHeld}, unannounced`);
  if (isHeld) lookAtWindow(violate, instance, lease);
  return isHeld;
}

type Questions<Asked> = readonly (readonly [name: string, ask: (asked: Asked) => boolean])[];

const BELIEVING: ReadonlySet<LeaseState> = new Set(['held', 'jeopardy']);

/** All of these say the same: that the role is held. */
const LEASE_QUESTIONS: Questions<RoleLease> = [
  ['isHeld', (lease) => lease.isHeld],
  ['fencingToken', (lease) => lease.fencingToken !== null],
  ['remainingMs', (lease) => lease.remainingMs > 0],
  ['state', (lease) => BELIEVING.has(lease.state)],
];

const TERM_QUESTIONS: Questions<Term> = [
  ['term.signal', (term) => !term.signal.aborted],
  ['term.isHeld', (term) => term.isHeld],
  ['term.remainingMs', (term) => term.remainingMs > 0],
];

/** Asks all questions, another one first at each turn. Null when the answers agree. */
function agree<Asked>(questions: Questions<Asked>, asked: Asked, turn: number): string | null {
  let yes = 0;
  for (let index = 0; index < questions.length; index += 1) {
    if (questions[(index + turn) % questions.length]?.[1](asked) === true) yes += 1;
  }
  if (yes === 0 || yes === questions.length) return null;
  return questions.map(([name, ask]) => `${name} ${ask(asked)}`).join(', ');
}

function agreeOnTerm(lease: RoleLease, term: Term, turn: number): string | null {
  const first = turn % 2 === 0 ? agree(TERM_QUESTIONS, term, turn) : agree(LEASE_QUESTIONS, lease, turn);
  const second = turn % 2 === 0 ? agree(LEASE_QUESTIONS, lease, turn) : agree(TERM_QUESTIONS, term, turn);
  return first ?? second ?? (lease.isHeld === term.isHeld ? null : `lease ${lease.isHeld}, term ${term.isHeld}`);
}

const ROUNDING_MS = 0.01;

/** Held no longer, and under no other token, than what the store said allows. */
function lookAtWindow(violate: (what: string) => void, { name, evidence }: Instance, lease: RoleLease): void {
  const { role, fencingToken, remainingMs } = lease;
  const proof = evidence.proof(role);
  const left = proof === undefined ? 0 : evidence.leftMs(proof);
  if (left <= 0) violate(`${role} on ${name} is held ${-left} ms past its window`);
  if (remainingMs > left + ROUNDING_MS)
    violate(`${role} on ${name} has ${remainingMs} ms left by its word and ${left} ms by the rules`);
  if (fencingToken !== proof?.token) violate(`${role} on ${name} is held under ${fencingToken}, proven is ${proof?.token}`);
}

/** Every term ever seen: one that is over stays over. */
export function lookAtEveryTerm({ journal, turn, violate }: Looked): void {
  for (const { by, term, lost } of journal.terms) {
    if (!by.runs) continue;
    const disagreed = agree(TERM_QUESTIONS, term, turn);
    const name = `term ${term.fencingToken} of ${term.role} on ${by.name}`;
    if (disagreed !== null) violate(`${name} is held and not held: ${disagreed}`);
    if (lost !== null && term.isHeld) violate(`${name} rose again`);
  }
}

/** How late a timer of core may end a term: it rounds its delays up to whole milliseconds. */
const TIMER_MS = 2;

/**
 * Terms end at their deadline by themselves, with nobody looking, and at the word of the store. True after timers and
 * promises have had their time. A wall clock that jumped may stay unnoticed until somebody looks, or the next heartbeat.
 */
export function auditEnds({ journal, violate }: Looked): void {
  for (const { by, term } of journal.openTerms) {
    if (!by.runs) continue;
    const name = `term ${term.fencingToken} of ${term.role} on ${by.name}`;
    const until = by.evidence.proof(term.role)?.monotonicUntil ?? 0;
    if (by.clock.monotonic() > until + TIMER_MS) violate(`${name} did not end at its deadline`);
    if (by.evidence.wasToldLost(term.role, term.fencingToken)) violate(`${name} goes on though the store said that it is over`);
  }
}

/** Nothing is announced twice, nor left out. */
export function auditAnnouncements(terms: readonly AnnouncedTerm[], violate: (what: string) => void): void {
  for (const { by, term, lost } of terms) {
    if (!by.clock.dead && lost === null) violate(`term ${term.fencingToken} of ${term.role} on ${by.name} was never lost`);
  }
}
