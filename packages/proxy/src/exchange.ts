import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ClockTimer } from '@leasehold/core';
import { answerProblem } from './answer.ts';
import { cutOff } from './cut.ts';
import { isDelivered } from './delivered.ts';
import { type ForwardOutcome, isObserved, publish } from './diagnostics.ts';
import { Download } from './download.ts';
import { listenToClient, listenToHolder, stopListeningToClient } from './exchange-listeners.ts';
import { isEventStream } from './event-stream.ts';
import type { ClientSide, ExchangeContext } from './exchange-context.ts';
import { buildForwardedHead } from './forwarded-head.ts';
import type { InterimAnswer } from './headers/interim-head.ts';
import { passInterimOn } from './interim.ts';
import type { Watched } from './in-flight.ts';
import type { RefusalReason } from './refusal.ts';
import { requestTarget } from './request-target.ts';
import type { HolderTarget } from './target.ts';
import { timeoutError } from './timeout-error.ts';
import { type HolderEnd, Tunnel } from './tunnel.ts';
import { Upload } from './upload.ts';

/**
 * - `connecting`: nothing has been sent.
 * - `sent`: the holder may be executing it.
 * - `relaying`: the client has the head of the answer, so nothing but the whole of it or a break can follow.
 * - `over`: the holder's part is done, one way or another.
 */
type Stage = 'connecting' | 'sent' | 'relaying' | 'over';

const NO_FIELD: readonly string[] = [];

/** One forwarded request, from the decision to the last byte of the answer. Sent once, whatever happens. */
export class Exchange implements Watched {
  readonly target: HolderTarget;
  place = -1;
  /** When a stream is to be cut because the role changed hands; the role change sets it. */
  closeAt: number = Number.POSITIVE_INFINITY;
  readonly #context: ExchangeContext;
  readonly #client: ClientSide;
  readonly #startedAt: number;
  #stage: Stage = 'connecting';
  #settled = false;
  #upstream: ClientRequest | null = null;
  #upload: Upload | null = null;
  #download: Download | null = null;
  #tunnel: Tunnel | null = null;
  #connectTimer: ClockTimer | null = null;
  #sentAt = 0;

  constructor(target: HolderTarget, client: ClientSide, context: ExchangeContext) {
    this.target = target;
    this.#client = client;
    this.#context = context;
    this.#startedAt = context.options.clock.monotonic();
  }

  get asksForUpgrade(): boolean {
    return this.#client.upgrade !== null && this.#client.upgrade.protocols !== null;
  }

  begin(): void {
    const { request, response } = this.#client;
    const head = buildForwardedHead(this.target, this.#client, this.#context);
    try {
      this.#upstream = this.#open(head.fields);
    } catch (error) {
      this.#refuse('malformed-request', error);
      return;
    }
    // A server that was asked for another protocol reads no more requests from that connection, whatever it answers.
    if (this.asksForUpgrade) this.#upstream.shouldKeepAlive = false;
    this.#context.inFlight.add(this);
    listenToClient(this, request, response);
    listenToHolder(this, this.#upstream);
    if (this.#upstream.reusedSocket) this.connected();
    else this.#limitConnecting();
    if (head.hasBody && !request.readableEnded) this.#upload = new Upload(request, this.#upstream, this.#context.options.clock);
    else this.#upstream.end();
  }

  #open(fields: string[]): ClientRequest {
    const { request, upgrade } = this.#client;
    const { method = 'GET' } = request;
    const head = { method, path: requestTarget(request), fields, now: this.#startedAt, isUpgrade: upgrade !== null };
    return this.#context.transport.open(this.target, head);
  }

  /** The look comes one round of the event loop after the timer: a process that was frozen first sees what happened meanwhile. */
  #limitConnecting(): void {
    const { clock, connectTimeoutMs } = this.#context.options;
    const onTimer = (): void => {
      if (this.#stage === 'connecting') this.fail(timeoutError(`no connection within ${connectTimeoutMs} ms`));
    };
    this.#connectTimer = clock.setTimer(() => setImmediate(onTimer), connectTimeoutMs);
  }

  /** From here on the holder may have the request. */
  connected(): void {
    this.#connectTimer?.cancel();
    if (this.#stage !== 'connecting') return;
    this.#stage = 'sent';
    this.#sentAt = this.#context.options.clock.monotonic();
  }

  check(now: number): void {
    if (this.#stage === 'sent') this.#checkHead(now);
    else if (this.#stage === 'relaying' && this.#isStream) this.#context.roleChange.review(this, now);
  }

  get #isStream(): boolean {
    return this.#tunnel !== null || this.#download?.isStream === true;
  }

  #checkHead(now: number): void {
    const limit = this.#context.options.headTimeoutMs;
    if (this.#upload !== null && !this.#upload.awaitsHolder) return;
    const since = Math.max(this.#sentAt, this.#upload?.progressAt ?? 0);
    if (now - since >= limit) this.fail(timeoutError(`no answer within ${limit} ms`));
  }

  interim(answer: InterimAnswer): void {
    if (this.#stage === 'sent') passInterimOn(answer, this.#client);
  }

  answered(answer: IncomingMessage): void {
    if (this.#stage !== 'sent') return;
    this.target.noteReached(this.#context);
    const download = new Download(this, answer, this.#client.response);
    try {
      download.writeHead(this.#client.local, this.#instanceField);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#stage = 'relaying';
    this.#download = download;
    download.begin();
    if (this.#upstream?.shouldKeepAlive === false) download.expectReset();
    if (this.#context.inFlight.cutsEndless) this.cutIfEndless();
  }

  /** The holder speaks another protocol from here on, which is none of the proxy's business. */
  upgraded(answer: IncomingMessage, holder: HolderEnd): void {
    const { upgrade, response } = this.#client;
    if (this.#stage !== 'sent' || upgrade === null) {
      holder.socket.destroy();
      return;
    }
    this.target.noteReached(this.#context);
    this.#stage = 'relaying';
    stopListeningToClient(response);
    this.#tunnel = new Tunnel(upgrade, holder, (outcome, error) => this.#abandon(outcome, error));
    this.#tunnel.begin(answer, this.#instanceField);
    if (this.#context.inFlight.cutsEndless) this.cutIfEndless();
  }

  /** Names the holder, where that is wanted. */
  get #instanceField(): readonly string[] {
    const { instanceHeader } = this.#context.options;
    return instanceHeader === null ? NO_FIELD : [instanceHeader, this.target.holder];
  }

  /** The holder's answer is whole. An upload that it did not wait for is given up. */
  answerEnded(): void {
    this.#stage = 'over';
    this.target.usedAt = this.#context.options.clock.monotonic();
    if (this.#upload === null || this.#upload.isSent) return;
    this.#upload.stop();
    this.#upstream?.destroy();
  }

  clientClosed(): void {
    if (this.#stage === 'over' && isDelivered(this.#client)) this.#settle('completed');
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

  cutIfEndless(): void {
    if (this.#isEndless) this.cut('stopping');
  }

  /** A tunnel, or what may become one; or an event stream. */
  get #isEndless(): boolean {
    if (this.#download === null && this.asksForUpgrade) return true;
    return isEventStream(this.#client.request.headers.accept, this.#download?.contentType);
  }

  /** Breaks the client's connection off, as what it has is not the whole. */
  cut(outcome: ForwardOutcome, error?: unknown): void {
    this.#abandon(outcome, error);
    if (this.#tunnel === null) cutOff(this.#client.response, this.#download?.endsWithConnection === true);
  }

  #refuse(reason: RefusalReason, error: unknown): void {
    if (reason !== 'malformed-request') this.target.noteFailure(this.#context, { reason, error });
    this.#release();
    const { response, local } = this.#client;
    try {
      answerProblem({ reason, target: this.target, error }, this.#context, { response, local });
    } catch (cause) {
      // Middleware that has put its own in place of writeHead() throws to nobody here.
      const { lease, options } = this.#context;
      options.logger.error({ role: lease.role, err: cause }, 'the answer could not be written; its connection is cut');
      cutOff(response, false);
    }
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
    this.#download?.stop();
    this.#tunnel?.stop();
    this.#upstream?.destroy();
    this.#context.inFlight.remove(this);
    stopListeningToClient(this.#client.response);
  }

  #settle(outcome: ForwardOutcome, error?: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#context.inFlight.remove(this);
    if (isObserved('leasehold:proxy.forwarded')) this.#publish(outcome, error);
  }

  #publish(outcome: ForwardOutcome, error: unknown): void {
    const { options, leasehold, lease } = this.#context;
    publish('leasehold:proxy.forwarded', {
      instance: leasehold.instance.id,
      role: lease.role,
      holder: this.target.holder,
      address: this.target.address,
      method: this.#client.request.method ?? '',
      outcome,
      statusCode: this.#tunnel === null ? (this.#download?.statusCode ?? null) : 101,
      durationMs: options.clock.monotonic() - this.#startedAt,
      ...(error === undefined ? {} : { error }),
    });
  }
}
