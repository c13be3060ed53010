import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LeaseholdError } from '@leasehold/core';
import { answerProblem } from './answer.ts';
import { type Decision, type ForwardDecision, pass, type RefuseDecision } from './decision.ts';
import { Exchange } from './exchange.ts';
import type { ClientSide, ExchangeContext } from './exchange-context.ts';
import { attachExpect } from './expect.ts';
import { InFlight } from './in-flight.ts';
import type { ResolvedProxyOptions } from './options.ts';
import { checkRequest, hasBody } from './passes/check-request.ts';
import { HolderFinder } from './passes/find-holder.ts';
import { isHeldHere } from './passes/held-here.ts';
import { limitInFlight } from './passes/limit-in-flight.ts';
import { isUnderPrefix } from './passes/match-prefix.ts';
import { refuseSecondHop } from './passes/refuse-second-hop.ts';
import { refuse, type RefusalReason } from './refusal.ts';
import { requestTarget } from './request-target.ts';
import { RoleChange } from './role-change.ts';
import type { ProxyClient, RoleHolderProxy } from './role-holder-proxy.ts';
import type { ProxyLeasehold, RoleLeaseView } from './target.ts';
import { Transport } from './transport.ts';
import { UpgradingClient } from './upgrade.ts';

const NO_FIELDS = {};

/** The passes in their order, and what follows from them. */
export class InstalledProxy implements RoleHolderProxy {
  readonly role: string;
  readonly #lease: RoleLeaseView;
  readonly #context: ExchangeContext;
  readonly #finder: HolderFinder;
  #misuseLogged = false;

  constructor(leasehold: ProxyLeasehold, lease: RoleLeaseView, options: ResolvedProxyOptions) {
    const { clock, maxInFlight: limit } = options;
    this.role = options.role;
    this.#lease = lease;
    this.#finder = new HolderFinder(leasehold, lease, options);
    this.#context = {
      options,
      leasehold,
      lease,
      transport: new Transport(options),
      inFlight: new InFlight({ limit, clock, intervalMs: checkInterval(options, lease) }),
      roleChange: new RoleChange(lease, options.closeOnRoleChange),
      // The token is this instance's own, and it forwards only while it has none.
      hop: `${encodeURIComponent(options.role)};${encodeURIComponent(leasehold.instance.id)};0`,
    };
  }

  decide(request: IncomingMessage): Decision {
    const { options, inFlight } = this.#context;
    if (!isUnderPrefix(requestTarget(request), options.prefixes)) return pass;
    if (isHeldHere(this.#lease)) return pass;
    const secondHop = refuseSecondHop(request);
    if (secondHop !== undefined) return secondHop;
    const found = this.#finder.find();
    if (found.kind === 'refuse') return found;
    return limitInFlight(inFlight) ?? checkRequest(request) ?? found;
  }

  apply(decision: Decision, client: ProxyClient): boolean {
    if (decision.kind === 'pass') return false;
    const { request, response, headers: local = NO_FIELDS, awaitsContinue = false } = client;
    this.#answer(decision, { request, response, local, awaitsContinue, upgrade: null });
    return true;
  }

  #answer(decision: RefuseDecision | ForwardDecision, client: ClientSide): void {
    // Its client is gone already, or somebody has answered: there is nobody to forward for.
    if (client.response.destroyed || client.response.writableEnded) return;
    if (decision.kind === 'forward') new Exchange(decision.target, client, this.#context).begin();
    else answerProblem({ reason: decision.reason, ...this.#misuse(decision.reason) }, this.#context, client);
  }

  handle(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void {
    const decision = this.decide(request);
    if (decision.kind === 'pass') next();
    else this.apply(decision, { request, response });
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const decision = this.decide(request);
    if (decision.kind === 'pass') return false;
    const upgrade = new UpgradingClient(request, socket, head);
    const refused = decision.kind === 'forward' && hasBody(request) ? refuse('upgrade-with-body') : decision;
    this.#answer(refused, { request, response: upgrade.response, local: NO_FIELDS, awaitsContinue: false, upgrade });
    return true;
  }

  attachExpect(server: Server): () => void {
    return attachExpect(server, this);
  }

  close(): void {
    this.#context.inFlight.close();
    this.#context.transport.close();
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
    if (!this.#misuseLogged) this.#context.options.logger.error({ role: this.role, error }, error.message);
    this.#misuseLogged = true;
    return { error };
  }
}

/** Late by a tenth at most; and streams of a former holder are cut in many small steps. */
function checkInterval(options: ResolvedProxyOptions, lease: RoleLeaseView): number {
  const forHeads = options.headTimeoutMs / 10;
  const interval = options.closeOnRoleChange ? Math.min(forHeads, lease.renewIntervalMs / 50) : forHeads;
  return Math.min(Math.max(interval, 10), 1_000);
}
