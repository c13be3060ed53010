import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LeaseholdErrorCode, Term, TermLostMessage, TermMessage } from '../../packages/core/src/index.ts';
import { LeaseholdError } from '../../packages/core/src/index.ts';
import type { Instance } from './instance.ts';
import type { RowLedger } from './row-ledger.ts';

/** One term as it was announced. */
export interface AnnouncedTerm {
  readonly by: Instance;
  readonly term: Term;
  /** Which of the rows that the role has had gave it. */
  readonly generation: number;
  /** Why the application ended it, if it did. */
  asked: LeaseholdErrorCode | null;
  aborted: LeaseholdErrorCode | null;
  lost: LeaseholdErrorCode | null;
}

export interface TermJournalOptions {
  readonly rows: RowLedger;
  readonly find: (instance: string) => Instance | undefined;
  readonly violate: (what: string) => void;
}

/** Follows what core announces, and checks that each term begins once, ends once, in the right order and for a reason. */
export class TermJournal implements Disposable {
  /** Every term ever seen. */
  readonly terms: AnnouncedTerm[] = [];
  readonly #options: TermJournalOptions;
  readonly #open = new Map<Instance, Map<string, AnnouncedTerm>>();
  readonly #highest = new Map<string, { readonly token: bigint; readonly generation: number }>();
  readonly #onAcquired = (message: unknown): void => this.#acquired(message as TermMessage);
  readonly #onLost = (message: unknown): void => this.#lost(message as TermLostMessage);

  constructor(options: TermJournalOptions) {
    this.#options = options;
    subscribe('leasehold:lease.acquired', this.#onAcquired);
    subscribe('leasehold:lease.lost', this.#onLost);
  }

  [Symbol.dispose](): void {
    unsubscribe('leasehold:lease.acquired', this.#onAcquired);
    unsubscribe('leasehold:lease.lost', this.#onLost);
  }

  /** The term that has begun and not ended. */
  open(by: Instance, role: string): AnnouncedTerm | undefined {
    return this.#open.get(by)?.get(role);
  }

  get openTerms(): AnnouncedTerm[] {
    return [...this.#open.values()].flatMap((byRole) => [...byRole.values()]);
  }

  #acquired({ instance, role, fencingToken }: TermMessage): void {
    const by = this.#options.find(instance);
    if (by === undefined) return;
    const name = `term ${fencingToken} of ${role} on ${by.name}`;
    if (this.open(by, role) !== undefined) this.#violate(`${name} began before the one before it had ended`);
    this.#checkToken(by, role, fencingToken);
    const proof = by.evidence.proof(role);
    if (proof?.token !== fencingToken) this.#violate(`${name} began without the store's word`);
    else if (by.evidence.hasPassed(proof)) this.#violate(`${name} began after its own deadline`);
    if (by.stopCalled) this.#violate(`${name} began on an instance that is stopping`);
    // It runs at once, and to its end: a look at the term, no work.
    void by.lease(role).whileHeld((term) => this.#follow(by, term));
    if (this.open(by, role) === undefined) this.#violate(`${name} was announced and is not held`);
  }

  #follow(by: Instance, term: Term): void {
    const generation = this.#options.rows.generationOf(term);
    const announced: AnnouncedTerm = { by, term, generation, asked: null, aborted: null, lost: null };
    this.terms.push(announced);
    by.evidence.termBegan(term.role, term.fencingToken);
    const byRole = this.#open.get(by) ?? new Map<string, AnnouncedTerm>();
    this.#open.set(by, byRole.set(term.role, announced));
    term.signal.addEventListener('abort', () => this.#onAbort(announced));
  }

  #checkToken(by: Instance, role: string, token: bigint): void {
    const { rows } = this.#options;
    const generation = rows.generationOf({ role, holder: by.id, fencingToken: token });
    const last = this.#highest.get(role);
    if (last !== undefined && generation < last.generation) return;
    if (last?.generation === generation && token <= last.token)
      this.#violate(`the token of ${role} went from ${last.token} to ${token}`);
    this.#highest.set(role, { token, generation });
  }

  /** State first, the signal second, the announcement third. */
  #onAbort(announced: AnnouncedTerm): void {
    const { by, term } = announced;
    const name = `the signal of term ${term.fencingToken} of ${term.role} on ${by.name}`;
    const { reason } = term.signal as { readonly reason: unknown };
    if (announced.aborted !== null) this.#violate(`${name} aborted twice`);
    if (announced.lost !== null) this.#violate(`${name} aborted after the loss was announced`);
    if (by.lease(term.role).isHeld || term.isHeld) this.#violate(`${name} aborted while the role is held`);
    if (!(reason instanceof LeaseholdError)) return this.#violate(`${name} aborted without a coded reason`);
    announced.aborted = reason.code;
  }

  #lost({ instance, role, fencingToken, reason }: TermLostMessage): void {
    const by = this.#options.find(instance);
    if (by === undefined) return;
    const name = `the loss of term ${fencingToken} of ${role} on ${by.name} (${reason})`;
    const announced = this.open(by, role);
    if (announced?.term.fencingToken !== fencingToken) return this.#violate(`${name} is not that of the open term`);
    this.#open.get(by)?.delete(role);
    announced.lost = reason;
    if (announced.aborted !== reason) this.#violate(`${name} came before its signal, which said ${announced.aborted}`);
    if (by.lease(role).isHeld) this.#violate(`${name} was announced while the role is held`);
    if (!this.#isExplained(announced, reason)) this.#violate(`${name} has no reason`);
  }

  #isExplained({ by, term, asked }: AnnouncedTerm, reason: LeaseholdErrorCode): boolean {
    const proof = by.evidence.proof(term.role);
    switch (reason) {
      case 'LEASEHOLD_TERM_EXPIRED':
        return proof === undefined || by.evidence.hasPassed(proof);
      case 'LEASEHOLD_TERM_LOST':
        return by.evidence.wasToldLost(term.role, term.fencingToken);
      case 'LEASEHOLD_TERM_STOPPED':
        return by.stopCalled;
      case 'LEASEHOLD_TERM_STEPPED_DOWN':
        return asked === reason || by.mayStepDownItself(term.role);
      default:
        return false;
    }
  }

  #violate(what: string): void {
    this.#options.violate(what);
  }
}
