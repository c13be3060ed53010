import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from './behaviour.ts';
import { type Visit, VisitLog } from './log.ts';

export interface ReceiverOptions {
  /** What to do with the n-th request, from 1, for an event. */
  readonly behaviour: (event: number, request: number) => Behaviour;
  /** The shortest and the longest time that it takes to answer, in milliseconds. */
  readonly latencyMs: readonly [number, number];
  readonly random: () => number;
  /** How long it asks to wait, in milliseconds; as a date it is up to a second more. */
  readonly askedMs: number;
}

/** Longer than any worker waits. */
const SLOW_MS = 4_000;
/** A worker that hangs up so soon after the answer has not heard it. */
const HEARD_MS = 250;

interface Request {
  readonly key: string;
  readonly event: number;
  readonly attempt: number;
  readonly by: string;
  readonly at: number;
}

/** How a request was answered, in words, and when it may come again. */
interface Answered {
  readonly answer: string;
  readonly ok?: boolean;
  readonly isLeftWaiting?: boolean;
  readonly hangsUp?: boolean;
  readonly notBefore?: number;
}

/** The other side: an HTTP server that fails now and then, and an application behind it that must get each event once. */
export class Receiver {
  readonly log = new VisitLog();
  /** How often the application got each event. */
  readonly delivered = new Map<number, number>();
  /** Requests for what the application had already: answered, and not passed on. */
  repeats = 0;
  readonly #options: ReceiverOptions;
  readonly #server: Server;
  readonly #known = new Set<string>();
  readonly #ended = new AbortController();

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response).catch(() => response.destroy()));
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Answers with its address. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', 1_024, resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now();
    const key = header(incoming, 'idempotency-key');
    this.log.arrive(key, at);
    const { event } = JSON.parse(await textOf(incoming)) as { event: number };
    const attempt = Number(header(incoming, 'webhook-attempt'));
    const request: Request = { key, event, attempt, by: header(incoming, 'user-agent'), at };
    const [shortest, longest] = this.#options.latencyMs;
    await this.#pause(shortest + (longest - shortest) * this.#options.random());
    const answered = incoming.url === '/refuses' ? reply(response, 400) : this.#answer(request, response);
    const visit = this.#note(request, answered);
    if (answered.hangsUp === true) response.socket?.resetAndDestroy();
    else if (visit.answeredAt !== null) whenHungUp(incoming.socket, () => this.log.hungUp(visit));
    else {
      await this.#pause(SLOW_MS);
      reply(response, 200);
    }
  }

  #answer(request: Request, response: ServerResponse): Answered {
    const behaviour = this.#options.behaviour(request.event, this.log.countOf(request.key) + 1);
    if (behaviour.kind === 'later') return later(response, behaviour, this.#options.askedMs);
    if (behaviour.kind === 'error') return reply(response, 500);
    const isNew = this.#passOn(request);
    if (behaviour.kind === 'ok') return { ...reply(response, 200), answer: isNew ? '200' : '200, it was here before' };
    if (behaviour.kind === 'slow') return { answer: 'no answer in time', isLeftWaiting: true };
    return { answer: 'connection reset', hangsUp: true };
  }

  /** Whether the application gets it: what has come with this key before, it does not get again. */
  #passOn({ key, event }: Request): boolean {
    if (this.#known.has(key)) {
      this.repeats += 1;
      return false;
    }
    this.#known.add(key);
    this.delivered.set(event, (this.delivered.get(event) ?? 0) + 1);
    return true;
  }

  #note({ key, attempt, by, at }: Request, { answer, ok = false, isLeftWaiting = false, notBefore }: Answered): Visit {
    const answeredAt = isLeftWaiting ? null : performance.now();
    const visit = { key, attempt, by, at, answer, ok, answeredAt, notBefore: notBefore ?? null };
    this.log.add(visit);
    return visit;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ended.signal });
  }
}

function reply(response: ServerResponse, status: number): Answered {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  return { answer: String(status), ok: status === 200 };
}

type Later = Extract<Behaviour, { kind: 'later' }>;

/** A date of HTTP has whole seconds: the first one that is far enough. */
function later(response: ServerResponse, { status, form }: Later, askedMs: number): Answered {
  const wall = Date.now();
  const date = new Date(Math.ceil((wall + askedMs) / 1_000) * 1_000);
  const waitMs = form === 'seconds' ? askedMs : date.getTime() - wall;
  const notBefore = performance.now() + waitMs;
  const retryAfter = form === 'seconds' ? String(askedMs / 1_000) : date.toUTCString();
  response.setHeader('retry-after', retryAfter);
  const { answer } = reply(response, status);
  return { answer: `${answer}, Retry-After: ${retryAfter}`, notBefore };
}

/** It lost patience at that very moment, or was killed. */
function whenHungUp(socket: Socket, then: () => void): void {
  if (socket.destroyed) return then();
  const timer = setTimeout(() => {
    // After a while in which this process stood still, what came meanwhile is looked at first.
    setImmediate(() => setImmediate(() => socket.off('close', hungUp)));
  }, HEARD_MS);
  socket.once('close', hungUp);
  function hungUp(): void {
    clearTimeout(timer);
    then();
  }
}

function header({ headers }: IncomingMessage, name: string): string {
  return String(headers[name] ?? '');
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return text;
}
