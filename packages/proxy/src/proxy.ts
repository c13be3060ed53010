import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LeaseholdError } from '@leasehold/core';
import { answerProblem } from './answer.ts';
import { type Decision, type ForwardDecision, pass, type PassDecision, passHeld, type RefuseDecision } from './decision.ts';
import { Exchange } from './exchange.ts';
import type { ClientSide } from './exchange-context.ts';
import { attachExpect } from './expect.ts';
import { type AnyRequest, type AnyResponse, http2Stream } from './http2.ts';
import { hasBody } from './passes/check-request.ts';
import { isUnderPrefix } from './passes/match-prefix.ts';
import { answerRedirect } from './redirect.ts';
import { refuse, type RefusalReason } from './refusal.ts';
import { requestTarget } from './request-target.ts';
import type { ProxyClient, RoleHolderProxy } from './role-holder-proxy.ts';
import { RoleRoute, type Routes, type SharedContext } from './role-route.ts';
import { UpgradingClient } from './upgrade.ts';

const NO_FIELDS = {};

/** The passes in their order, and what follows from them. */
export class InstalledProxy implements RoleHolderProxy {
  readonly role: string;
  readonly #routes: Routes;
  readonly #shared: SharedContext;
  #misuseLogged = false;

  constructor(role: string, routes: Routes, shared: SharedContext) {
    this.role = role;
    this.#routes = routes;
    this.#shared = shared;
  }

  decide(given: AnyRequest): Decision {
    const request = given as IncomingMessage;
    if (!isUnderPrefix(requestTarget(request), this.#shared.options.prefixes)) return pass;
    const route = this.#routes.find(request);
    if (!(route instanceof RoleRoute)) return route;
    const decision = route.decide(request);
    if (decision.kind !== 'pass') this.#routes.keep(request, route);
    return decision;
  }

  apply(decision: Decision, client: ProxyClient): boolean {
    // What differs in HTTP/2 is asked for where it differs: the two are alike in all else that is used.
    const { request, response } = client as { readonly request: IncomingMessage; readonly response: ServerResponse };
    if (decision.kind === 'pass') return this.#pass(decision, response);
    const { headers: local = NO_FIELDS, awaitsContinue = false } = client;
    this.#answer(decision, { request, response, local, awaitsContinue, upgrade: null });
    return true;
  }

  /** Also on answers that are this instance's own work. */
  #pass(decision: PassDecision, response: ServerResponse): false {
    const { options, leasehold } = this.#shared;
    if (options.instanceHeader !== null && decision === passHeld && !response.headersSent) {
      response.setHeader(options.instanceHeader, leasehold.instance.id);
    }
    return false;
  }

  #answer(decision: RefuseDecision | ForwardDecision, client: ClientSide): void {
    // Its client is gone already, or somebody has answered: there is nobody to forward for.
    const { response } = client;
    if ((http2Stream(response) ?? response).destroyed || response.writableEnded) return;
    const context = this.#routes.contextOf(client.request);
    // Or the client keeps the connection, and with it a server that is closing, open.
    if (context.inFlight.isClosed) response.shouldKeepAlive = false;
    if (decision.kind === 'refuse') answerProblem({ reason: decision.reason, ...this.#misuse(decision.reason) }, context, client);
    else if (context.options.redirects) answerRedirect(decision.target, client, context);
    else new Exchange(decision.target, client, context).begin();
  }

  handle(request: AnyRequest, response: AnyResponse, next: (error?: unknown) => void): void {
    const decision = this.decide(request);
    if (decision.kind !== 'pass') {
      this.apply(decision, { request, response });
      return;
    }
    this.#pass(decision, response as ServerResponse);
    next();
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const decision = this.decide(request);
    if (decision.kind === 'pass') return false;
    const upgrade = UpgradingClient.take(request, socket, head);
    if (upgrade === null) return true;
    const refused =
      decision.kind === 'forward' && !this.#shared.options.redirects && hasBody(request) ? refuse('upgrade-with-body') : decision;
    this.#answer(refused, { request, response: upgrade.response, local: NO_FIELDS, awaitsContinue: false, upgrade });
    return true;
  }

  attachExpect(server: Server): () => void {
    return attachExpect(server, this);
  }

  close(): void {
    this.#shared.inFlight.close();
    this.#shared.transport.close();
  }

  cutEndless(): void {
    this.#shared.inFlight.cutEndless();
  }

  /** A mistake of the programmer, not of the client: said in the log, once. */
  #misuse(reason: RefusalReason): { readonly error?: LeaseholdError } {
    if (reason !== 'body-already-read') return {};
    const error = new LeaseholdError(
      'LEASEHOLD_BODY_ALREADY_READ',
      `A request body under a prefix of the role '${this.role}' was read before it could be forwarded; ` +
        'mount the role-holder proxy before every body parser (express.json(), multer, …).',
      { role: this.role },
    );
    if (!this.#misuseLogged) this.#shared.options.logger.error({ role: this.role, err: error }, error.message);
    this.#misuseLogged = true;
    return { error };
  }
}
