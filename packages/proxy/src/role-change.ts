import type { Exchange } from './exchange.ts';
import type { HolderView } from './target.ts';

/** What becomes of streams whose holder is not the holder any more. */
export class RoleChange {
  readonly #lease: HolderView;
  readonly #closes: boolean;

  constructor(lease: HolderView, closes: boolean) {
    this.#lease = lease;
    this.#closes = closes;
  }

  /**
   * Cuts a stream at a time of its own within one renew interval: a thousand clients that come back at once would be an
   * attack on the new holder. While nobody is known to hold, nobody could serve it better.
   */
  review(exchange: Exchange, now: number): void {
    if (!this.#closes) return;
    const { currentHolder, renewIntervalMs } = this.#lease;
    if (currentHolder === null || currentHolder === exchange.target.holder) {
      exchange.closeAt = Number.POSITIVE_INFINITY;
    } else if (exchange.closeAt === Number.POSITIVE_INFINITY) {
      exchange.closeAt = now + Math.random() * renewIntervalMs;
    } else if (now >= exchange.closeAt) {
      exchange.cut('role-changed');
    }
  }
}
