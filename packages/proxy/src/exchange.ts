import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClockTimer } from '@leasehold/core';
import { answerProblem } from './answer.ts';
import { cutOff } from './cut.ts';
import { type ForwardOutcome, isObserved, publish } from './diagnostics.ts';
import { Download } from './download.ts';
import { buildInterimHead } from './headers/interim-head.ts';
import type { LocalFields } from './headers/merge.ts';
import { buildRequestHead } from './headers/request-head.ts';
import type { InFlight, Watched } from './in-flight.ts';
import type { ProblemContext } from './problem.ts';
import type { RefusalReason } from './refusal.ts';
import type { RoleChange } from './role-change.ts';
import { requestTarget } from './request-target.ts';
import type { HolderTarget } from './target.ts';
import type { Transport } from './transport.ts';
import { Upload } from './upload.ts';

export interface ExchangeContext extends ProblemContext {
  readonly transport: Transport;
  readonly inFlight: InFlight<Exchange>;
  readonly roleChange: RoleChange;
  /** `Leasehold-Hop` of every request that this instance forwards. */
  readonly hop: string;
}

export interface ClientSide {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fields that this instance sets on the answer, whoever it is from. */
  readonly local: LocalFields;
  /** The client waits for `100 Continue`, and the holder is to say it. */
  readonly awaitsContinue: boolean;
}

/**
 * - `connecting`: nothing has been sent.
 * - `sent`: the holder may be executing it.
 * - `relaying`: the client has the head of the answer, so nothing but the whole of it or a break can follow.
 * - `over`: the holder's part is done, one way or another.
 */
type Stage = 'connecting' | 'sent' | 'relaying' | 'over';

/** One forwarded request, from the decision to the last byte of the answer. Sent once, whatever happens. */
export class Exchange implements Watched {
  readonly target: HolderTarget;
  place = -1;
  readonly #context: ExchangeContext;
  readonly #client: ClientSide;
  readonly #startedAt: number;
  #stage: Stage = 'connecting';
  #settled = false;
  #upstream: ClientRequest | null = null;
  #upload: Upload | null = null;
  #download: Download | null = null;
  #connectTimer: ClockTimer | null = null;
  #sentAt = 0;
  /** When a stream is to be cut because the role changed hands; the role change sets it. */
  closeAt: number = Number.POSITIVE_INFINITY;

  constructor(target: HolderTarget, client: ClientSide, context: ExchangeContext) {
    this.target = target;
    this.#client = client;
    this.#context = context;
    this.#startedAt = context.options.clock.monotonic();
  }

  begin(): void {
    const { request, response } = this.#client;
    const head = this.#buildHead();
    let upstream: ClientRequest;
    try {
      upstream = this.#context.transport.open(this.target, {
        method: request.method ?? 'GET',
        path: requestTarget(request),
        fields: head.fields,
      });
    } catch (error) {
      this.#refuse('malformed-request', error);
      return;
    }
    this.#upstream = upstream;
    this.#context.inFlight.add(this);
    link(response, this).on('close', onClientClose);
    this.#listen(link(upstream, this));
    if (head.hasBody && !request.readableEnded) this.#upload = new Upload(request, upstream, this.#context.options.clock);
    else upstream.end();
  }

  #buildHead(): ReturnType<typeof buildRequestHead> {
    const { request, awaitsContinue } = this.#client;
    const { options, hop } = this.#context;
    return buildRequestHead(request, {
      hop,
      pseudonym: options.pseudonym,
      authority: this.target.authority,
      trustForwarded: options.trustForwarded(request) === true,
      keepExpect: awaitsContinue,
    });
  }

  #listen(upstream: ClientRequest): void {
    upstream.on('response', onAnswer);
    upstream.on('information', onInterim);
    upstream.on('error', onUpstreamError);
    upstream.on('close', onUpstreamClose);
    if (upstream.reusedSocket) this.connected();
    else {
      upstream.on('socket', onSocket);
      this.#connectTimer = this.#context.options.clock.setTimer(
        () => setImmediate(() => this.#onConnectTimeout()),
        this.#context.options.connectTimeoutMs,
      );
    }
  }

  /** From here on the holder may have the request. */
  connected(): void {
    this.#connectTimer?.cancel();
    this.#connectTimer = null;
    if (this.#stage !== 'connecting') return;
    this.#stage = 'sent';
    this.#sentAt = this.#context.options.clock.monotonic();
  }

  #onConnectTimeout(): void {
    if (this.#stage === 'connecting')
      this.fail(timeoutError(`no connection within ${this.#context.options.connectTimeoutMs} ms`));
  }

  check(now: number): void {
    if (this.#stage === 'sent') this.#checkHead(now);
    else if (this.#stage === 'relaying' && this.#download?.isStream === true) this.#context.roleChange.review(this, now);
  }

  #checkHead(now: number): void {
    const limit = this.#context.options.headTimeoutMs;
    if (this.#upload !== null && !this.#upload.awaitsHolder) return;
    if (now - (this.#upload?.progressAt ?? this.#sentAt) >= limit) this.fail(timeoutError(`no answer within ${limit} ms`));
  }

  interim(status: number, message: string, rawHeaders: readonly string[]): void {
    const { request, response } = this.#client;
    if (this.#stage !== 'sent' || response.headersSent || response.socket === null || request.httpVersion === '1.0') return;
    if (status !== 100) response.socket.write(buildInterimHead(status, message, rawHeaders), 'latin1');
    else if (this.#client.awaitsContinue) response.writeContinue();
  }

  answered(answer: IncomingMessage): void {
    if (this.#stage !== 'sent') return;
    this.#noteReached();
    const download = new Download(this, answer, this.#client.response);
    try {
      download.writeHead(this.#client.local);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#stage = 'relaying';
    this.#download = download;
    download.begin();
  }

  /** The holder's answer is whole. An upload that it did not wait for is given up. */
  answerEnded(): void {
    this.#stage = 'over';
    if (this.#upload === null || this.#upload.isSent) return;
    this.#upload.stop();
    this.#upstream?.destroy();
  }

  clientClosed(): void {
    const { response } = this.#client;
    if (this.#stage === 'over' && response.writableFinished) this.#settle('completed');
    else this.#abandon('client-left');
  }

  upstreamClosed(): void {
    if (this.#stage === 'over') return;
    const when = this.#stage === 'relaying' ? 'in the middle of its answer' : 'without an answer';
    this.fail(new Error(`The holder closed the connection ${when}.`));
  }

  /** The holder's side broke, wherever it was. Harmless once the answer is whole or another failure was first. */
  fail(error: unknown): void {
    if (this.#stage === 'connecting') this.#refuse('unreachable', error);
    else if (this.#stage === 'sent') this.#refuse('outcome-unknown', error);
    else if (this.#stage === 'relaying' && this.#download?.isComplete === false) this.cut('truncated', error);
  }

  /** Breaks the client's connection off, as what it has is not the whole. */
  cut(outcome: ForwardOutcome, error?: unknown): void {
    this.#abandon(outcome, error);
    cutOff(this.#client.response, this.#download?.endsWithConnection === true);
  }

  #refuse(reason: RefusalReason, error: unknown): void {
    this.#noteFailure(reason, error);
    this.#release();
    const { response, local } = this.#client;
    answerProblem({ reason, target: this.target, error }, this.#context, { response, local });
  }

  #abandon(outcome: ForwardOutcome, error?: unknown): void {
    this.#release();
    this.#settle(outcome, error);
  }

  /** Stops both directions at once and gives the place in flight back. */
  #release(): void {
    this.#stage = 'over';
    this.#connectTimer?.cancel();
    this.#upload?.stop();
    this.#upstream?.destroy();
    this.#context.inFlight.remove(this);
    this.#client.response.off('close', onClientClose);
  }

  #settle(outcome: ForwardOutcome, error?: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#context.inFlight.remove(this);
    if (!isObserved('leasehold:proxy.forwarded')) return;
    const { options, leasehold } = this.#context;
    publish('leasehold:proxy.forwarded', {
      instance: leasehold.instance.id,
      role: options.role,
      holder: this.target.holder,
      address: this.target.address,
      method: this.#client.request.method ?? '',
      outcome,
      statusCode: this.#download?.statusCode ?? null,
      durationMs: options.clock.monotonic() - this.#startedAt,
      ...(error === undefined ? {} : { error }),
    });
  }

  #noteReached(): void {
    if (!this.target.failing) return;
    this.target.failing = false;
    this.#context.options.logger.info(this.#fields(), 'the holder answers again');
  }

  #noteFailure(reason: RefusalReason, error: unknown): void {
    if (this.target.failing || reason === 'malformed-request') return;
    this.target.failing = true;
    this.#context.options.logger.warn({ ...this.#fields(), reason, error }, 'a request could not be forwarded to the holder');
  }

  #fields(): object {
    return { role: this.#context.options.role, holder: this.target.holder, address: this.target.address };
  }
}

const EXCHANGE: unique symbol = Symbol('leasehold.exchange');

/** An emitter that knows its exchange, so that one listener serves all exchanges: no closures are made for each request. */
interface Linked {
  [EXCHANGE]: Exchange;
}

function link<T extends object>(emitter: T, exchange: Exchange): T & Linked {
  const linked = emitter as T & Linked;
  linked[EXCHANGE] = exchange;
  return linked;
}

function onAnswer(this: unknown, answer: IncomingMessage): void {
  (this as Linked)[EXCHANGE].answered(answer);
}

function onInterim(this: unknown, info: { statusCode: number; statusMessage: string; rawHeaders: string[] }): void {
  (this as Linked)[EXCHANGE].interim(info.statusCode, info.statusMessage, info.rawHeaders);
}

function onUpstreamError(this: unknown, error: Error): void {
  (this as Linked)[EXCHANGE].fail(error);
}

function onUpstreamClose(this: unknown): void {
  (this as Linked)[EXCHANGE].upstreamClosed();
}

function onClientClose(this: unknown): void {
  (this as Linked)[EXCHANGE].clientClosed();
}

function onSocket(this: unknown, socket: Socket): void {
  const exchange = (this as Linked)[EXCHANGE];
  socket.once(exchange.target.secure ? 'secureConnect' : 'connect', () => exchange.connected());
}

function timeoutError(message: string): Error {
  return Object.assign(new Error(`The holder gave ${message}.`), { code: 'ETIMEDOUT' });
}
