import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '@leasehold/core';
import { passTrailersOn } from './headers/trailers.ts';

/** The body of one request on its way to the holder, at the pace of the slower end. */
export class Upload {
  readonly #request: IncomingMessage;
  readonly #upstream: ClientRequest;
  readonly #clock: Clock;
  #sent = false;
  #isBehind = false;
  #stopped = false;
  #progressAt: number;

  constructor(request: IncomingMessage, upstream: ClientRequest, clock: Clock) {
    this.#request = request;
    this.#upstream = upstream;
    this.#clock = clock;
    this.#progressAt = clock.monotonic();
    upstream.on('drain', this.#onDrain);
    request.on('data', this.#onData);
    request.on('end', this.#onEnd);
    // A listener alone does not start what an earlier hook has paused.
    request.resume();
    setImmediate(this.#sendHead);
  }

  /** When the holder last took something, on the monotonic clock. */
  get progressAt(): number {
    return this.#progressAt;
  }

  /** The next step is the holder's: it has all, or does not take more. A client may rest in the middle for as long as it likes. */
  get awaitsHolder(): boolean {
    return this.#sent || this.#upstream.writableNeedDrain;
  }

  get isSent(): boolean {
    return this.#sent;
  }

  /** Gives up the rest, and reads it all the same: unread bytes would block the next request of the client's connection. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#request.off('data', this.#onData);
    this.#request.off('end', this.#onEnd);
    if (!this.#request.readableEnded && !this.#request.destroyed) this.#request.resume();
  }

  /**
   * The head goes with the first bytes of the body, one packet for both; or by itself when these take longer, since the
   * holder may have an answer without them. Written as latin-1: `flushHeaders()` would write UTF-8.
   */
  readonly #sendHead = (): void => {
    if (!this.#stopped && !this.#sent) this.#upstream.write('', 'latin1');
  };

  /** As in {@link Download.relay}, one chunk more than the holder has room for is let in. */
  readonly #onData = (chunk: Buffer): void => {
    this.#progressAt = this.#clock.monotonic();
    if (this.#upstream.write(chunk)) return;
    if (this.#isBehind) this.#request.pause();
    this.#isBehind = true;
  };

  readonly #onDrain = (): void => {
    this.#progressAt = this.#clock.monotonic();
    this.#isBehind = false;
    if (!this.#stopped && this.#request.isPaused()) this.#request.resume();
  };

  /** Reached by a complete body alone: of a client that left in the middle, the holder must not see an end. */
  readonly #onEnd = (): void => {
    this.#sent = true;
    this.#progressAt = this.#clock.monotonic();
    passTrailersOn(this.#request.rawTrailers, this.#upstream);
    this.#upstream.end();
  };
}
