import type { ProcessConfig } from '../processes/worker-process.ts';

/** What the lab tells a worker over its IPC channel. */
export type Command =
  | { readonly do: 'blockLoop'; readonly ms: number }
  | { readonly do: 'exhaustPool'; readonly ms: number }
  | { readonly do: 'jumpWall'; readonly ms: number }
  | { readonly do: 'stepDown'; readonly roles: readonly string[]; readonly standAsideMs: number }
  | { readonly do: 'standAside'; readonly ms: number };

/** What a worker tells the lab. */
export interface Ready {
  readonly ready: string;
}

/** How a worker is set up: its one argument, as JSON. */
export interface WorkerConfig extends ProcessConfig {
  readonly roles: number;
  readonly lease: string;
  /** By way of the worker's own TCP proxy. */
  readonly storeUrl: string;
  /** Straight to the server: an instance whose leases are cut off can still write, which is what fences are for. */
  readonly appUrl: string;
  readonly seed: number;
  readonly wallOffsetMs: number;
  readonly monotonicRate: number;
}
