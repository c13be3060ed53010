import type { LeaseRegistry, Term } from '@leasehold/core';
import type { HeldRole } from '../log/line.ts';
import { nowUs } from '../monotonic.ts';
import type { WriteLine } from './log-file.ts';

/** Looks at `isHeld` the way an application does, and writes down what it was told, between two readings of the clock. */
export class Observer {
  readonly #leases: LeaseRegistry;
  readonly #write: WriteLine;
  #heldSome = false;

  constructor(leases: LeaseRegistry, write: WriteLine) {
    this.#leases = leases;
    this.#write = write;
  }

  /** Looks at every role. One who never holds anything writes nothing. */
  look(): void {
    const held: HeldRole[] = [];
    const from = nowUs();
    let index = 0;
    for (const lease of this.#leases) {
      const token = lease.isHeld ? lease.fencingToken : null;
      if (token !== null) held.push([index, Number(token)]);
      index += 1;
    }
    const to = nowUs();
    if (held.length > 0 || this.#heldSome) this.#write({ k: 'look', from, to, held });
    this.#heldSome = held.length > 0;
  }

  /** Looks at one term from within its work. */
  lookAt(index: number, term: Term): boolean {
    const from = nowUs();
    const held = term.isHeld;
    const to = nowUs();
    if (held) this.#write({ k: 'claim', from, to, held: [[index, Number(term.fencingToken)]] });
    else if (!term.signal.aborted) {
      this.#write({ k: 'wrong', at: to, what: `${term.role}: term ${term.fencingToken} is over and its signal not aborted` });
    }
    return held;
  }
}
