import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RoleLease } from '@leasehold/core';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import { type AnswerSpec, FIELD, fromQuery } from '../answer-spec.ts';
import { answerBody, BodyCheck, uploadBody } from '../bytes.ts';
import type { Line } from './config.ts';
import type { Streams } from './streams.ts';

/** Under which term the instance is, and since when that is known; from before the proxy decides. */
export interface Look {
  readonly at: number;
  readonly token: number | null;
}

/** The time first: a process that is frozen in between has looked too early, and not decided too late. */
export function lookAt(lease: RoleLease): Look {
  const at = nowUs();
  const { fencingToken } = lease;
  return { at, token: fencingToken === null ? null : Number(fencingToken) };
}

export interface ApplicationOptions {
  readonly instance: string;
  readonly write: WriteLine<Line>;
  readonly streams: Streams;
}

/** What only the holder may execute. Every execution is written down before anything else happens. */
export function application(
  options: ApplicationOptions,
): (request: IncomingMessage, response: ServerResponse, look: Look) => void {
  const { instance, write, streams } = options;
  return (request, response, look) => {
    const { searchParams: query, pathname } = new URL(request.url ?? '/', 'http://lab');
    const id = query.get('id') ?? 'unknown';
    write({ k: 'run', id, ...look });
    response.setHeader(FIELD.instance, instance);
    if (pathname === '/held/events') streams.open(id, response);
    else answer({ id, request, response, spec: fromQuery(query) }).catch(() => response.destroy());
  };
}

interface Asked {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly spec: AnswerSpec;
}

async function answer({ id, request, response, spec }: Asked): Promise<void> {
  if (spec.early) request.resume();
  else response.setHeader(FIELD.upload, await readUpload(id, request));
  if (spec.waitMs > 0) await sleep(spec.waitMs);
  if (request.method === 'HEAD') {
    response.setHeader('Content-Length', spec.size);
    response.end();
    return;
  }
  const body = answerBody(id, spec.size);
  writeHead(response, spec);
  for (let piece = 0; piece < spec.pieces && !response.destroyed; piece += 1) {
    if (piece > 0 && spec.pauseMs > 0) await sleep(spec.pauseMs);
    if (spec.breakAt === piece) return breakOff(response, spec);
    const from = Math.floor((piece * spec.size) / spec.pieces);
    response.write(body.subarray(from, Math.floor(((piece + 1) * spec.size) / spec.pieces)));
  }
  response.end();
}

/** What came, and whether it is what the client sent: `1234 whole`. Rejects for a client that left in the middle. */
async function readUpload(id: string, request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const check = new BodyCheck(uploadBody(id, body.length));
  check.take(body);
  return `${body.length} ${check.isWhole ? 'whole' : 'spoilt'}`;
}

function writeHead(response: ServerResponse, { shape, size }: AnswerSpec): void {
  response.setHeader(FIELD.length, size);
  if (shape === 'fixed' || shape === 'streamed') response.setHeader('Content-Length', size);
  if (shape === 'sse') response.setHeader('Content-Type', 'text/event-stream');
  if (shape === 'close') {
    response.removeHeader('Transfer-Encoding');
    response.removeHeader('Content-Length');
  }
  if (shape === 'sse' || shape === 'close') response.flushHeaders();
}

function breakOff({ socket }: ServerResponse, { breakBy }: AnswerSpec): void {
  if (breakBy === 'reset') socket?.resetAndDestroy();
  else socket?.destroy();
}
