import { AsyncResource } from 'node:async_hooks';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';
import type { InterimAnswer } from './headers/interim-head.ts';
import { http2Stream } from './http2.ts';
import { whenGoneBeforeTurn } from './queued-response.ts';

const EXCHANGE: unique symbol = Symbol('leasehold.exchange');
const SCOPE: unique symbol = Symbol('leasehold.scope');

/** An emitter that knows its exchange, so that one listener serves all exchanges: no closures are made for each request. */
interface Linked {
  [EXCHANGE]: Exchange;
}

/**
 * A connection tells of its end in the asynchronous context of the request that opened it, and what writes the answer may log
 * by that. The context of this request is kept to be put in its place.
 */
interface LinkedToHolder extends Linked {
  [SCOPE]: AsyncResource;
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
  (upstream as ClientRequest & LinkedToHolder)[EXCHANGE] = exchange;
  (upstream as ClientRequest & LinkedToHolder)[SCOPE] = new AsyncResource('LeaseholdExchange');
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

function onUpstreamError(this: unknown, error: Error): void {
  const { [EXCHANGE]: exchange, [SCOPE]: scope } = this as LinkedToHolder;
  scope.runInAsyncScope(() => exchange.fail(error));
}

function onUpstreamClose(this: unknown): void {
  const { [EXCHANGE]: exchange, [SCOPE]: scope } = this as LinkedToHolder;
  scope.runInAsyncScope(() => exchange.upstreamClosed());
}

function onClientClose(this: unknown): void {
  (this as Linked)[EXCHANGE].clientClosed();
}

function onSocket(this: unknown, socket: Socket): void {
  const exchange = (this as Linked)[EXCHANGE];
  socket.once(exchange.target.secure ? 'secureConnect' : 'connect', () => exchange.connected());
}
