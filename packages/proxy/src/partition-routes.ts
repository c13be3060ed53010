import type { IncomingMessage } from 'node:http';
import { AffinityFinder, nobodyIn } from './affinity-finder.ts';
import type { RefuseDecision } from './decision.ts';
import type { ExchangeContext } from './exchange-context.ts';
import type { ResolvedAffinity } from './partition-options.ts';
import { RoleRoute, type Routes, type SharedContext } from './role-route.ts';
import type { HolderView, PartitionView } from './target.ts';

/** The ways of a partition: one for each role of it that a request belonged to. */
export class PartitionRoutes implements Routes {
  readonly #finder: AffinityFinder<IncomingMessage>;
  readonly #shared: SharedContext;
  readonly #routes = new Map<string, RoleRoute>();
  /** Asked for twice, a key could be another one the second time. */
  readonly #found = new WeakMap<IncomingMessage, RoleRoute>();
  /** For answers to requests that belong to no role. */
  readonly #nowhere: RoleRoute;

  constructor(partition: PartitionView, affinity: ResolvedAffinity, shared: SharedContext) {
    this.#finder = new AffinityFinder(partition, affinity, shared.options.logger);
    this.#shared = shared;
    this.#nowhere = new RoleRoute(nobodyIn(affinity.partition), shared);
  }

  find(request: IncomingMessage): RoleRoute | RefuseDecision {
    return this.#finder.find(request, this.#routeOf);
  }

  keep(request: IncomingMessage, route: RoleRoute): void {
    this.#found.set(request, route);
  }

  contextOf(request: IncomingMessage): ExchangeContext {
    return (this.#found.get(request) ?? this.#nowhere).context;
  }

  readonly #routeOf = (lease: HolderView): RoleRoute => {
    let route = this.#routes.get(lease.role);
    if (route?.lease !== lease) this.#routes.set(lease.role, (route = new RoleRoute(lease, this.#shared)));
    return route;
  };
}
