import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Decision } from './decision.ts';
import type { AnyRequest, AnyResponse } from './http2.ts';
import type { LocalFields } from './headers/merge.ts';

/** Connect's shape, which `node:http`, Express and Connect understand; and `node:http2` by its compatibility API. */
export type ConnectHandler = (request: AnyRequest, response: AnyResponse, next: (error?: unknown) => void) => void;

export interface ProxyClient {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  /**
   * Fields that hooks of this instance have set for the answer and that are not on `response` yet. The holder's fields
   * win; `Set-Cookie` and `Vary` add up.
   *
   * @default none
   */
  readonly headers?: LocalFields;
  /** The client waits for `100 Continue` and nobody has sent it: the holder decides. @default false */
  readonly awaitsContinue?: boolean;
}

/** What a framework's adapter works with. */
export interface RoleHolderProxy {
  /** The role; in the partition form the name of the partition. */
  readonly role: string;
  /** What is to happen with a request: local state alone, without I/O. */
  decide(request: AnyRequest): Decision;
  /**
   * Answers as decided. False for `pass`: the request is the application's, and nothing is done but to set
   * `instanceHeader`, where that is wanted.
   *
   * *Gotcha:* nothing else may answer after it returned true, and nothing may have read the body before.
   */
  apply(decision: Decision, client: ProxyClient): boolean;
  /** `decide` and `apply`; calls `next` for what is local. */
  handle(request: AnyRequest, response: AnyResponse, next: (error?: unknown) => void): void;
  /**
   * For `server.on('upgrade')`. True when it took the socket, to connect it with the holder or to refuse; false when the
   * upgrade is not under a prefix or is local, and another listener has to take it.
   *
   * *Gotcha:* with a listener Node hands over every upgrade of the server. One that nobody takes has to be answered, too.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * Lets the holder answer `Expect: 100-continue`, where Node would do it here. Returns a function that detaches.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the server has a `checkContinue` listener already.
   */
  attachExpect(server: Server): () => void;
  /** Refuses new forwards and closes idle connections to holders; what is in flight goes on. */
  close(): void;
}
