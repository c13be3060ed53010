import type { Booked, Look, Told } from '../checker/history.ts';
import type { ProcessConfig } from '../../../lab/src/processes/worker-process.ts';

export interface WorkerConfig extends ProcessConfig {
  /** By way of the worker's own TCP proxy. */
  readonly url: string;
  readonly seed: number;
  /** Settles in transactions of its own, beside a business row. */
  readonly books: boolean;
}

type Entry<T> = Omit<T, 'by'>;

/** What a worker writes down, one JSON object per line; every time is a reading of `nowUs`. */
export type Line =
  | { readonly k: 'claim'; readonly at: number; readonly claim: string; readonly rows: number; readonly buried: number }
  | { readonly k: 'begin'; readonly at: number; readonly row: string; readonly claim: string; readonly attempt: number | null }
  /** A handler is over, or was told that it shall be; with its last look at a signal that had not aborted. */
  | ({ readonly k: 'look' } & Entry<Look>)
  | ({ readonly k: 'told' } & Entry<Told>)
  | ({ readonly k: 'booked' } & Entry<Booked>)
  /** A statement of a handler, or an outcome, was refused. */
  | { readonly k: 'refused'; readonly by: 'handler' | 'worker'; readonly code: string }
  | { readonly k: 'stopped'; readonly running: number; readonly unsettled: number }
  | { readonly k: 'wrong'; readonly what: string };
