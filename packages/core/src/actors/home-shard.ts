import type { Term } from '../lease/term.ts';
import type { Mailbox } from './mailbox.ts';
import type { HomeLease } from './not-home.ts';

/** The keys whose home is the holder of one role. */
export class HomeShard {
  readonly lease: HomeLease;
  /** Those in which something waits or runs. */
  readonly #mailboxes = new Set<Mailbox>();
  #term: Term | null = null;

  constructor(lease: HomeLease) {
    this.lease = lease;
  }

  /** The term that this instance is the home by at this moment; null where it is not. */
  get term(): Term | null {
    const { fencingToken } = this.lease;
    if (fencingToken === null) return null;
    if (this.#term?.fencingToken !== fencingToken) this.#enter();
    return this.#term;
  }

  add(mailbox: Mailbox): void {
    this.#mailboxes.add(mailbox);
  }

  remove(mailbox: Mailbox): void {
    this.#mailboxes.delete(mailbox);
  }

  /** `whileHeld` calls its work before it returns. */
  #enter(): void {
    void this.lease.whileHeld((term) => {
      this.#term = term;
      term.signal.addEventListener('abort', () => this.#leave(term), { once: true });
    });
  }

  #leave(term: Term): void {
    if (this.#term === term) this.#term = null;
    for (const mailbox of this.#mailboxes) mailbox.refuseWaiting(term.signal.reason);
  }
}
