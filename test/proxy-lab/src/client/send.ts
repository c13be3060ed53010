import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { nowUs } from '../../../lab/src/monotonic.ts';
import { FIELD, plannedMs, toPath } from '../answer-spec.ts';
import { answerBody, BodyCheck, uploadBody } from '../bytes.ts';
import type { Outcome } from './outcome.ts';
import type { PlannedRequest } from './plan-request.ts';

/** Longer than anything may take: what is not over by then hangs. */
const GIVE_UP_MS = 30_000;

export interface Entry {
  readonly instance: string;
  readonly port: number;
}

/** Sends one request, does with it what was planned, and tells what came of it. Never rejects. */
export function send(planned: PlannedRequest, entry: Entry, agent: http.Agent): Promise<Outcome> {
  return new Promise((resolve) => new Sending(planned, { entry, agent, resolve }).begin());
}

interface SendingOptions {
  readonly entry: Entry;
  readonly agent: http.Agent;
  readonly resolve: (outcome: Outcome) => void;
}

class Sending {
  readonly #planned: PlannedRequest;
  readonly #options: SendingOptions;
  readonly #startedAt = nowUs();
  #request!: ClientRequest;
  #answer: IncomingMessage | null = null;
  #check: BodyCheck | null = null;
  #sentAt: number | null = null;
  #headAt: number | null = null;
  #error: string | null = null;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(planned: PlannedRequest, options: SendingOptions) {
    this.#planned = planned;
    this.#options = options;
  }

  begin(): void {
    const { id, method, upload, answer } = this.#planned;
    const { entry, agent } = this.#options;
    const headers = upload === null || upload.chunked ? {} : { 'Content-Length': upload.size };
    const chunked = upload?.chunked === true ? { 'Transfer-Encoding': 'chunked' } : {};
    this.#request = http.request({
      host: '127.0.0.1',
      port: entry.port,
      agent,
      method,
      path: toPath(id, answer),
      headers: { ...headers, ...chunked },
    });
    this.#timer = setTimeout(() => this.#leave('hanging'), GIVE_UP_MS);
    this.#request.on('error', (error: NodeJS.ErrnoException) => (this.#error ??= error.code ?? error.message));
    this.#request.on('response', (response) => this.#answered(response));
    this.#request.on('close', () => this.#end(this.#headAt === null ? 'failed' : 'broken'));
    void this.#sendBody();
  }

  async #sendBody(): Promise<void> {
    const { id, upload, leaves } = this.#planned;
    if (upload === null) this.#finishSending();
    else {
      this.#request.flushHeaders();
      if (leaves === 'before-body') return this.#leaveSoon();
      const body = uploadBody(id, upload.size);
      const half = upload.size >> 1;
      this.#request.write(body.subarray(0, half));
      if (leaves === 'uploading') return this.#leaveSoon();
      await nextRound();
      if (this.#request.destroyed) return;
      this.#finishSending(body.subarray(half));
    }
    if (leaves === 'before-head') await this.#leaveSoon();
  }

  #finishSending(rest?: Buffer): void {
    this.#sentAt = nowUs();
    if (rest === undefined) this.#request.end();
    else this.#request.end(rest);
  }

  async #leaveSoon(): Promise<void> {
    await sleep(5);
    if (this.#headAt === null) this.#leave('left');
  }

  #leave(kind: 'left' | 'hanging'): void {
    this.#end(kind);
    this.#request.destroy();
  }

  #answered(answer: IncomingMessage): void {
    this.#answer = answer;
    this.#headAt = nowUs();
    const length = answer.headers[FIELD.length];
    if (length !== undefined) this.#check = new BodyCheck(answerBody(this.#planned.id, Number(length)));
    answer.on('data', (chunk: Buffer) => this.#take(chunk));
    answer.on('error', (error: NodeJS.ErrnoException) => (this.#error ??= error.code ?? error.message));
    answer.on('end', () => this.#end(answer.complete && this.#error === null ? 'whole' : 'broken'));
  }

  #take(chunk: Buffer): void {
    this.#check?.take(chunk);
    if (this.#planned.leaves === 'mid-body' && this.#check !== null) this.#leave('left');
  }

  #end(kind: Outcome['kind']): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const { id, answer: spec } = this.#planned;
    const field = (name: string): string | null => (this.#answer?.headers[name] as string | undefined) ?? null;
    const upload = field(FIELD.upload);
    const by = field(FIELD.instance);
    this.#options.resolve({
      id,
      entry: this.#options.entry.instance,
      kind,
      startedAt: this.#startedAt,
      sentAt: this.#sentAt,
      headAt: this.#headAt,
      endedAt: nowUs(),
      plannedMs: plannedMs(spec),
      status: this.#answer?.statusCode ?? null,
      by,
      retryAfter: field('retry-after'),
      reason: by === null ? reasonOf(field('proxy-status')) : null,
      isWhole: by === null || this.#planned.method === 'HEAD' || this.#check?.isWhole === true,
      endsWithConnection: spec.shape === 'close',
      uploadIsWhole: upload === null ? null : upload === `${this.#planned.upload?.size ?? 0} whole`,
      error: this.#error,
    });
  }
}

/** A refusal says why in a field, too: an answer to HEAD has no body. */
function reasonOf(proxyStatus: string | null): string | null {
  return /details="([^"]+)"/.exec(proxyStatus ?? '')?.[1] ?? null;
}
