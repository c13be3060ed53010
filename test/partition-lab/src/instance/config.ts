/** The one partition of the application under test. */
export const PARTITION = 'devices';
export const COUNT = 64;
/** What is under it, the owner of the key answers. */
export const PREFIX = '/devices';
/** Field of an answer that names the instance which executed the request. */
export const SERVED_BY = 'x-executed-by';

export const KEYS: readonly string[] = Array.from({ length: 150 }, (_, index) => `device-${index}`);

export function roleNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${PARTITION}:partition-${index}`);
}

/** How an instance is set up: its one argument, as JSON. */
export interface InstanceConfig {
  readonly label: string;
  readonly count: number;
  readonly leaseMs: number;
  readonly startup: 'wait' | 'background';
  /** By way of the instance's own TCP proxy. */
  readonly storeUrl: string;
  /** Straight to the server: an instance whose leases are cut off can still write, which is what fences are for. */
  readonly appUrl: string;
  readonly logFile: string;
  readonly seed: number;
  /** Takes turns of keys by itself. */
  readonly takesTurns: boolean;
}

/** What an instance says over its IPC channel. */
export type Message =
  | { readonly say: 'ready'; readonly instance: string; readonly port: number }
  /** `start()` rejected. */
  | { readonly say: 'refused'; readonly instance: string; readonly code: string };

/** What an instance writes down, one JSON object per line; every time is a reading of `nowUs`. */
export type Line =
  /** With the role that it takes each key to belong to. */
  | { readonly k: 'start'; readonly instance: string; readonly roles: Readonly<Record<string, string>> }
  /** A term as this instance was told of it: it began, or it is over. */
  | { readonly k: 'gain' | 'loss'; readonly at: number; readonly role: string; readonly token: number }
  /** The application has begun to execute a request, or a turn; time and token are from just before that was decided. */
  | { readonly k: 'run'; readonly id: string; readonly role: string; readonly at: number; readonly token: number | null }
  /** The fence refused a write; `late` when it was tried after the term was over. */
  | { readonly k: 'refused'; readonly at: number; readonly role: string; readonly token: number; readonly late: boolean }
  /** What the logger was told that an operator has to see. */
  | { readonly k: 'warned'; readonly at: number; readonly what: string };
