/** The one role of the application under test. */
export const ROLE = 'orders';

/** What the proxy is configured with, in milliseconds: together shorter than a freeze, or a head limit that does nothing would not show. */
export const LIMITS = { connect: 500, head: 1_000, idle: 1_000 } as const;

/** How an instance is set up: its one argument, as JSON. */
export interface InstanceConfig {
  readonly label: string;
  readonly databaseUrl: string;
  readonly logFile: string;
  readonly leaseMs: number;
  /** A gateway does not: it stands aside for ever, and so forwards from its first day to its last. */
  readonly competes: boolean;
  readonly onRoleChange: 'keep' | 'close';
}

/** What an instance is told over its IPC channel. */
export type Command =
  | { readonly do: 'measure' }
  | { readonly do: 'stepDown' }
  /** Sends events to every open stream, numbered from 1. */
  | { readonly do: 'publish'; readonly events: number; readonly everyMs: number };

/** What an instance says. */
export type Message =
  | { readonly say: 'ready'; readonly instance: string; readonly port: number }
  | { readonly say: 'measured'; readonly measured: Measured }
  | { readonly say: 'published' };

/** What a process holds on to, after garbage collection. */
export interface Measured {
  readonly heapBytes: number;
  /** Connections of its server. */
  readonly connections: number;
  /** Sockets of any kind: those of the server, of the agents, and the one to the database. */
  readonly sockets: number;
  readonly timers: number;
}

/** What an instance writes down, one JSON object per line; every time is a reading of `nowUs`. */
export type Line =
  | { readonly k: 'start'; readonly instance: string }
  /** The application has begun to execute a request; time and token are from just before the proxy decided. */
  | { readonly k: 'run'; readonly id: string; readonly at: number; readonly token: number | null }
  /** The process did not run. */
  | { readonly k: 'stall'; readonly from: number; readonly to: number }
  /** A stream was closed from the other side. */
  | { readonly k: 'left'; readonly id: string; readonly at: number };
