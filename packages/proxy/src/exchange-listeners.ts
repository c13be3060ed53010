import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';
import type { InterimAnswer } from './headers/interim-head.ts';
import { http2Stream } from './http2.ts';
import { whenGoneBeforeTurn } from './queued-response.ts';

const EXCHANGE: unique symbol = Symbol('leasehold.exchange');

/** An emitter that knows its exchange, so that one listener serves all exchanges: no closures are made for each request. */
interface Linked {
  [EXCHANGE]: Exchange;
}

export function listenToClient(exchange: Exchange, request: IncomingMessage, response: ServerResponse): void {
  (response as ServerResponse & Linked)[EXCHANGE] = exchange;
  response.on('close', onClientClose);
  if (response.socket === null && http2Stream(response) === undefined)
    whenGoneBeforeTurn(request, response, () => exchange.clientClosed());
}

export function stopListeningToClient(response: ServerResponse): void {
  response.off('close', onClientClose);
}

/** The `close` of the request covers what brings no error: an unwanted 101, for one. */
export function listenToHolder(exchange: Exchange, upstream: ClientRequest): void {
  (upstream as ClientRequest & Linked)[EXCHANGE] = exchange;
  upstream.on('response', onAnswer);
  upstream.on('information', onInterim);
  upstream.on('error', onUpstreamError);
  upstream.on('close', onUpstreamClose);
  if (!upstream.reusedSocket) upstream.on('socket', onSocket);
  // Without a listener Node ends the connection at a 101, which is right where nobody asked for one.
  if (exchange.asksForUpgrade) upstream.on('upgrade', onUpgrade);
}

function onAnswer(this: unknown, answer: IncomingMessage): void {
  (this as Linked)[EXCHANGE].answered(answer);
}

function onInterim(this: unknown, answer: InterimAnswer): void {
  (this as Linked)[EXCHANGE].interim(answer);
}

function onUpgrade(this: unknown, answer: IncomingMessage, socket: Socket, head: Buffer): void {
  (this as Linked)[EXCHANGE].upgraded(answer, { socket, head });
}

/**
 * A connection tells of its end in the asynchronous context of the request that opened it, and what writes the answer may log
 * with that: the context of this request is put in its place.
 */
function onUpstreamError(this: unknown, error: Error): void {
  const exchange = (this as Linked)[EXCHANGE];
  exchange.scope.runInAsyncScope(exchange.fail, exchange, error);
}

function onUpstreamClose(this: unknown): void {
  const exchange = (this as Linked)[EXCHANGE];
  exchange.scope.runInAsyncScope(exchange.upstreamClosed, exchange);
}

function onClientClose(this: unknown): void {
  (this as Linked)[EXCHANGE].clientClosed();
}

function onSocket(this: unknown, socket: Socket): void {
  const exchange = (this as Linked)[EXCHANGE];
  socket.once(exchange.target.secure ? 'secureConnect' : 'connect', () => exchange.connected());
}
