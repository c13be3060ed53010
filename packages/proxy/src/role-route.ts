import type { IncomingMessage } from 'node:http';
import { type Decision, passHeld, type RefuseDecision } from './decision.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { InFlight } from './in-flight.ts';
import type { ResolvedProxyOptions } from './options.ts';
import { checkRequest } from './passes/check-request.ts';
import { HolderFinder } from './passes/find-holder.ts';
import { isHeldHere } from './passes/held-here.ts';
import { limitInFlight } from './passes/limit-in-flight.ts';
import { obeyClient } from './passes/obey-client.ts';
import { refuseSecondHop } from './passes/refuse-second-hop.ts';
import { RoleChange } from './role-change.ts';
import type { HolderView, ThisInstance } from './target.ts';
import { Transport } from './transport.ts';

/** What all roles of one proxy share. */
export type SharedContext = Pick<ExchangeContext, 'options' | 'leasehold' | 'transport' | 'inFlight'>;

export function shareOptions(leasehold: ThisInstance, options: ResolvedProxyOptions, renewIntervalMs: number): SharedContext {
  const { clock, maxInFlight: limit } = options;
  const inFlight = new InFlight({ limit, clock, intervalMs: checkInterval(options, renewIntervalMs) });
  return { options, leasehold, transport: new Transport(options), inFlight };
}

/** Late by a tenth at most; and streams of a former holder are cut in many small steps. */
function checkInterval({ headTimeoutMs, closeOnRoleChange }: ResolvedProxyOptions, renewIntervalMs: number): number {
  const forHeads = headTimeoutMs / 10;
  const interval = closeOnRoleChange ? Math.min(forHeads, renewIntervalMs / 50) : forHeads;
  return Math.min(Math.max(interval, 10), 1_000);
}

/** Which role a request belongs to: always the same, or that of its affinity key. */
export interface Routes {
  find(request: IncomingMessage): RoleRoute | RefuseDecision;
  /** Remembers the way of a request that does not run here, for its answer. */
  keep(request: IncomingMessage, route: RoleRoute): void;
  contextOf(request: IncomingMessage): ExchangeContext;
}

/** The way of the requests that belong to one role. */
export class RoleRoute implements Routes {
  readonly lease: HolderView;
  readonly context: ExchangeContext;
  readonly #finder: HolderFinder;

  constructor(lease: HolderView, shared: SharedContext) {
    const { leasehold, options } = shared;
    this.lease = lease;
    this.#finder = new HolderFinder(leasehold, lease, options);
    this.context = {
      ...shared,
      lease,
      roleChange: new RoleChange(lease, options.closeOnRoleChange),
      // The token is this instance's own, and it forwards only while it has none.
      hop: `${encodeURIComponent(lease.role)};${encodeURIComponent(leasehold.instance.id)};0`,
    };
  }

  /** The role form has this one way for all requests. */
  find(): this {
    return this;
  }

  keep(): void {}

  contextOf(): ExchangeContext {
    return this.context;
  }

  decide(request: IncomingMessage): Decision {
    const { inFlight, options } = this.context;
    if (isHeldHere(this.lease)) return passHeld;
    const refused = refuseSecondHop(request) ?? (options.redirects ? undefined : obeyClient(request));
    if (refused !== undefined) return refused;
    const found = this.#finder.find();
    if (found.kind === 'refuse') return found;
    return limitInFlight(inFlight) ?? (options.redirects ? undefined : checkRequest(request)) ?? found;
  }
}
