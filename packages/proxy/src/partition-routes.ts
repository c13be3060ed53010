import type { IncomingMessage } from 'node:http';
import type { RefuseDecision } from './decision.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { notAKey, type ResolvedAffinity } from './partition-options.ts';
import { refuse } from './refusal.ts';
import { RoleRoute, type Routes, type SharedContext } from './role-route.ts';
import type { HolderView, PartitionView } from './target.ts';

/** In UTF-16 code units: room for any identifier, and no work to be done for a client that sends a megabyte. */
const LONGEST_KEY = 4_096;

/** The ways of a partition: one for each role of it that a request belonged to. */
export class PartitionRoutes implements Routes {
  readonly #partition: PartitionView;
  readonly #affinity: ResolvedAffinity;
  readonly #shared: SharedContext;
  readonly #routes = new Map<string, RoleRoute>();
  /** Asked for twice, a key could be another one the second time. */
  readonly #found = new WeakMap<IncomingMessage, RoleRoute>();
  /** For answers to requests that belong to no role. */
  readonly #nowhere: RoleRoute;
  #failing = false;

  constructor(partition: PartitionView, affinity: ResolvedAffinity, shared: SharedContext) {
    this.#partition = partition;
    this.#affinity = affinity;
    this.#shared = shared;
    this.#nowhere = new RoleRoute({ ...NOBODY, role: affinity.partition }, shared);
  }

  find(request: IncomingMessage): RoleRoute | RefuseDecision {
    try {
      const key: unknown = this.#affinity.affinityKey(request);
      if (key === undefined || key === null || key === '') return refuse('affinity-key-missing');
      if (Array.isArray(key)) return refuse('affinity-key-invalid');
      if (typeof key !== 'string') return this.#fail(notAKey(key));
      if (key.length > LONGEST_KEY) return refuse('affinity-key-invalid');
      return this.#routeOf(this.#resolve(key));
    } catch (error) {
      return this.#fail(error);
    }
  }

  keep(request: IncomingMessage, route: RoleRoute): void {
    this.#found.set(request, route);
  }

  contextOf(request: IncomingMessage): ExchangeContext {
    return (this.#found.get(request) ?? this.#nowhere).context;
  }

  #resolve(key: string): HolderView {
    const { scope } = this.#affinity;
    return scope === undefined ? this.#partition.resolve(key) : this.#partition.resolve(scope, key);
  }

  #routeOf(lease: HolderView): RoleRoute {
    if (typeof lease.role !== 'string') throw new TypeError('The partition answered with something that is no role.');
    this.#failing = false;
    let route = this.#routes.get(lease.role);
    if (route?.lease !== lease) this.#routes.set(lease.role, (route = new RoleRoute(lease, this.#shared)));
    return route;
  }

  /** A mistake of the application's, not of the client: said in the log, once until it works again. */
  #fail(error: unknown): RefuseDecision {
    if (!this.#failing) {
      const { partition } = this.#affinity;
      this.#shared.options.logger.error({ partition, err: error }, 'the affinity key of a request could not be told');
    }
    this.#failing = true;
    return refuse('affinity-failed');
  }
}

const NOBODY: Omit<HolderView, 'role'> = {
  isHeld: false,
  currentHolder: null,
  currentHolderAddress: null,
  holderRemainingMs: 0,
  renewIntervalMs: 0,
};
