import { LeaseholdError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Member } from '../store/lease-store.ts';

/**
 * - `waiting`: declared with the next heartbeat, or just now; nothing is taken before an answer shows the declaration.
 * - `cleared`: declared, and whoever came before agrees on the count: its roles may be taken.
 * - `refused`: a live instance has another count. Nothing is declared, so that nobody else is refused because of this one.
 */
type State = 'waiting' | 'cleared' | 'refused';

/**
 * Whether this instance may take roles of a partition: only while all that do have the same count, as keys would otherwise
 * have two owners.
 *
 * An instance declares its count, and takes nothing before an answer of the store shows its own declaration and no other
 * count. Of any two that disagree, the one whose answer is later sees the other's declaration, and keeps away; where both
 * see each other, both do. Who was cleared stays so: newcomers keep away from it, for as long as its declaration is live.
 */
export class Participation {
  readonly #name: string;
  readonly #count: number;
  readonly #logger: Logger;
  #state: State = 'waiting';
  #hasAsked = false;
  #problem: LeaseholdError | undefined;

  constructor(name: string, count: number, logger: Logger) {
    this.#name = name;
    this.#count = count;
    this.#logger = logger;
  }

  get isDeclared(): boolean {
    return this.#state !== 'refused';
  }

  get isCleared(): boolean {
    return this.#state === 'cleared';
  }

  get isDecided(): boolean {
    return this.#state !== 'waiting';
  }

  /** True once each time that it begins to wait: the next heartbeat should not. */
  takeImpatience(): boolean {
    const impatient = this.#state === 'waiting' && !this.#hasAsked;
    this.#hasAsked = this.#state === 'waiting';
    return impatient;
  }

  get problem(): LeaseholdError | undefined {
    return this.#state === 'refused' ? this.#problem : undefined;
  }

  /** @param members as they were before the heartbeat that told of them. */
  takeIn(own: Member | undefined, others: readonly Member[]): void {
    const contradiction = others.find(({ partitions }) => (partitions[this.#name] ?? this.#count) !== this.#count);
    if (this.#state === 'refused') {
      if (contradiction === undefined) this.#state = 'waiting';
    } else if (own?.live !== true || own.partitions[this.#name] !== this.#count) {
      // Also after a long silence: meanwhile another count may have taken over.
      this.#state = 'waiting';
    } else if (this.#state === 'waiting') {
      if (contradiction === undefined) this.#clear();
      else this.#refuse(contradiction);
    }
  }

  /** A store that tells of no members cannot keep two counts apart. */
  refuseForGood(storeName: string): void {
    if (this.#state === 'refused') return;
    this.#state = 'refused';
    const message = `the ${storeName} store tells of no members, which partition "${this.#name}" needs; use a store that passes the conformance suite.`;
    this.#tell(new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: 'store' }));
  }

  #clear(): void {
    this.#state = 'cleared';
    if (this.#problem !== undefined) this.#logger.info({ partition: this.#name }, 'the partition takes part again');
    this.#problem = undefined;
  }

  #refuse({ id, partitions }: Member): void {
    this.#state = 'refused';
    const message =
      `partition "${this.#name}" has a count of ${this.#count} here and of ${partitions[this.#name]} on ${id}: a key would have two owners. ` +
      'It takes no part until that instance is gone. Give the same count everywhere; to change it, stop all instances first, or use a new name.';
    this.#tell(new LeaseholdError('LEASEHOLD_PARTITION_COUNT', message, { option: 'count' }));
  }

  #tell(problem: LeaseholdError): void {
    if (this.#problem === undefined) this.#logger.error({ err: problem, partition: this.#name }, problem.message);
    this.#problem = problem;
  }
}
