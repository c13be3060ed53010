import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Exchange } from './exchange.ts';
import { setField } from './headers/field-names.ts';
import { isUntouched, type LocalFields, mergeFields, setLocalFields } from './headers/merge.ts';
import { buildResponseHead } from './headers/response-head.ts';
import { http2Stream } from './http2.ts';
import { passTrailersOn } from './headers/trailers.ts';
import { whenReset } from './reset.ts';

/** The holder's answer on its way to the client, at the pace of the slower end. */
export class Download {
  readonly #exchange: Exchange;
  readonly #answer: IncomingMessage;
  readonly #response: ServerResponse;
  #hasLength = false;
  #ended = false;
  #wasReset = false;
  #flush: (() => void) | null = null;
  #isBehind = false;
  #onDrain: (() => void) | null = null;

  constructor(exchange: Exchange, answer: IncomingMessage, response: ServerResponse) {
    this.#exchange = exchange;
    this.#answer = answer;
    this.#response = response;
  }

  get statusCode(): number {
    return this.#answer.statusCode ?? 0;
  }

  /** The holder sent all of it, though the client may not have read all of it yet. */
  get isComplete(): boolean {
    return this.#answer.complete && !this.#wasReset;
  }

  /** Without a known length: such an answer may go on for ever. */
  get isStream(): boolean {
    return !this.#hasLength && !this.#ended;
  }

  /** The client can tell the end by the end of its connection alone. */
  get endsWithConnection(): boolean {
    return !this.#hasLength && !this.#response.chunkedEncoding;
  }

  /**
   * @param own a field that this instance sets, whatever the holder says.
   * @throws what makes the head unusable; then nothing of it is left on the response.
   */
  writeHead(local: LocalFields, own: readonly string[]): void {
    const answer = this.#answer;
    const response = this.#response;
    const { fields, hasLength } = buildResponseHead(answer, response);
    this.#hasLength = hasLength;
    if (own.length > 0) setField(fields, own);
    setLocalFields(response, local);
    if (isUntouched(response)) response.writeHead(this.statusCode, answer.statusMessage ?? '', fields);
    else this.#writeMergedHead(fields);
  }

  #writeMergedHead(fields: readonly string[]): void {
    try {
      mergeFields(this.#response, fields);
      if (http2Stream(this.#response) !== undefined) this.#response.writeHead(this.statusCode);
      else this.#response.writeHead(this.statusCode, this.#answer.statusMessage ?? '');
    } catch (error) {
      for (const name of this.#response.getHeaderNames()) this.#response.removeHeader(name);
      throw error;
    }
  }

  begin(): void {
    link(this.#answer, this);
    this.#answer.on('data', onData);
    this.#answer.on('end', onEnd);
    if (!this.#hasLength) this.#flushHead();
  }

  /** For an answer whose connection is not kept, which may be what ends it. */
  expectReset(): void {
    whenReset(this.#answer, (error) => {
      this.#wasReset = true;
      this.#exchange.fail(error);
    });
  }

  /** What the holder still sends is not for the client any more. */
  stop(): void {
    this.#answer.off('data', onData);
    this.#answer.off('end', onEnd);
  }

  /**
   * A stream's head must not wait for its first event. Listening came before: a first chunk that is already here goes in
   * the same packet. Written as latin-1, since `flushHeaders()` would write UTF-8.
   */
  #flushHead(): void {
    this.#response.write('', 'latin1');
    const { flush } = this.#response as { flush?: unknown };
    if (typeof flush !== 'function') return;
    // compression() before the proxy holds events back until its buffer is full, unless it is told.
    this.#flush = (): void => void flush.call(this.#response);
    this.#flush();
  }

  /**
   * One chunk more than the client has room for is let in before the holder is stopped: mostly the kernel takes it at
   * once, and stopping and starting again costs a round of the event loop.
   */
  relay(chunk: Buffer): void {
    const hasRoom = this.#response.write(chunk);
    if (!hasRoom) {
      if (this.#isBehind) this.#answer.pause();
      this.#isBehind = true;
      if (this.#onDrain === null) this.#listenForDrain();
    }
    this.#flush?.();
  }

  #listenForDrain(): void {
    this.#onDrain = (): void => {
      this.#isBehind = false;
      if (this.#answer.isPaused()) this.#answer.resume();
    };
    this.#response.on('drain', this.#onDrain);
  }

  /** An end without completeness is a break. */
  end(): void {
    if (!this.isComplete) {
      this.#exchange.fail(new Error('The holder closed in the middle of its answer.'));
      return;
    }
    this.#ended = true;
    passTrailersOn(this.#answer.rawTrailers, this.#response);
    this.#exchange.answerEnded();
    this.#response.end();
  }
}

const DOWNLOAD: unique symbol = Symbol('leasehold.download');

interface Linked {
  [DOWNLOAD]: Download;
}

function link(answer: IncomingMessage, download: Download): void {
  (answer as IncomingMessage & Linked)[DOWNLOAD] = download;
}

function onData(this: unknown, chunk: Buffer): void {
  (this as Linked)[DOWNLOAD].relay(chunk);
}

function onEnd(this: unknown): void {
  (this as Linked)[DOWNLOAD].end();
}
