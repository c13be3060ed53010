import { LeaseholdError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Member } from '../store/lease-store.ts';

/**
 * - `looking`: nothing is declared before somebody looked who is there.
 * - `declaring`: with the next heartbeat.
 * - `declared`: nothing is taken before an answer shows the declaration.
 * - `cleared`: declared, and whoever came before agrees on the count: its roles may be taken.
 * - `refused`: an instance has another count. Nothing is declared, so that nobody else is refused because of this one.
 */
type State = 'looking' | 'declaring' | 'declared' | 'cleared' | 'refused';

/**
 * Whether this instance may take roles of a partition: only while all that do have the same count, as keys would otherwise
 * have two owners.
 *
 * An instance looks, declares its count, and takes nothing before an answer of the store shows its own declaration and no
 * other count. Of any two that disagree, the one whose answer is later sees the other's declaration, and keeps away; where
 * both see each other, both do. Who was cleared stays so: newcomers keep away from it for as long as its declaration is told.
 * That is longer than it can hold anything: roles are taken and renewed only together with the declaration, which no heartbeat
 * that hung on its way puts back, and nothing is believed that was asked after its time, or answered after its afterlife.
 */
export class Participation {
  readonly #name: string;
  readonly #count: number;
  readonly #logger: Logger;
  #state: State = 'looking';
  /** Whether its roles were asked for since it was cleared. */
  #hasAsked = false;
  #problem: LeaseholdError | undefined;

  constructor(name: string, count: number, logger: Logger) {
    this.#name = name;
    this.#count = count;
    this.#logger = logger;
  }

  get isDeclared(): boolean {
    return this.#state !== 'looking' && this.#state !== 'refused';
  }

  get isCleared(): boolean {
    return this.#state === 'cleared';
  }

  /** Refused; or its roles were asked for, so that those that were free are held. */
  get isDecided(): boolean {
    return this.#state === 'refused' || (this.#state === 'cleared' && this.#hasAsked);
  }

  get problem(): LeaseholdError | undefined {
    return this.#state === 'refused' ? this.#problem : undefined;
  }

  /**
   * @param own this instance, or undefined where it may have been forgotten meanwhile.
   * @param others as they were before the heartbeat that told of them, as `own` is.
   * @returns whether this came a step further: then the next heartbeat should not wait.
   */
  takeIn(own: Member | undefined, others: readonly Member[]): boolean {
    const before = this.#state;
    const contradiction = others.find((member) => (countOf(member, this.#name) ?? this.#count) !== this.#count);
    const isShown = own?.live === true && countOf(own, this.#name) === this.#count;
    if (before === 'looking' || before === 'refused') {
      if (contradiction === undefined) this.#state = 'declaring';
      else this.#refuse(contradiction);
    } else if (before === 'declaring' || !isShown) {
      // Also after a long silence: meanwhile another count may have taken over.
      this.#state = 'declared';
    } else if (before === 'declared') {
      if (contradiction === undefined) this.#clear();
      else this.#refuse(contradiction);
    } else {
      this.#hasAsked = true;
    }
    return this.#state !== before && this.#state !== 'refused';
  }

  /** A store that tells of no members cannot keep two counts apart. */
  refuseForGood(storeName: string): void {
    const message = `the ${storeName} store tells of no members, which partition "${this.#name}" needs; use a store that passes the conformance suite.`;
    this.#tell(new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: 'store' }));
  }

  #clear(): void {
    this.#state = 'cleared';
    this.#hasAsked = false;
    if (this.#problem !== undefined) this.#logger.info({ partition: this.#name }, 'the partition takes part again');
    this.#problem = undefined;
  }

  #refuse(member: Member): void {
    const message =
      `partition "${this.#name}" has a count of ${this.#count} here and of ${countOf(member, this.#name)} on ${member.id}: a key would have two owners. ` +
      'It takes no part until that instance is gone. Give the same count everywhere; to change it, stop all instances first, or use a new name.';
    this.#tell(new LeaseholdError('LEASEHOLD_PARTITION_COUNT', message, { option: 'count' }));
  }

  /** Once, until it takes part again. */
  #tell(problem: LeaseholdError): void {
    this.#state = 'refused';
    if (this.#problem === undefined) this.#logger.error({ err: problem, partition: this.#name }, problem.message);
    this.#problem = problem;
  }
}

/** A partition may be called "constructor", too. */
export function countOf({ partitions }: Member, name: string): number | undefined {
  return Object.hasOwn(partitions, name) ? partitions[name] : undefined;
}
