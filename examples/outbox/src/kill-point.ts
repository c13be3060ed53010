import { subscribe } from 'node:diagnostics_channel';

/** Where a process can be made to die: each step at which a crash could lose, repeat or invent something. */
export const KILL_POINTS = [
  'order:before-commit',
  'order:after-commit',
  'outbox:after-claim',
  'billing:before-effect',
  'billing:after-effect',
  'billing:in-finalize',
  'billing:after-finalize',
  'shipping:before-effect',
  'shipping:after-effect',
  'shipping:after-finalize',
] as const;

export type KillPoint = (typeof KILL_POINTS)[number];

const { KILL_AT } = process.env;

/** As `kill -9` here: nothing is closed, given back or rolled back by this process. */
export function killPoint(here: KillPoint): void {
  if (here === KILL_AT) process.kill(process.pid, 'SIGKILL');
}

interface Message {
  readonly rows?: number;
  readonly outcome?: string;
  readonly row?: { readonly target_role: string | null };
}

/** Between a claim and its first handler, and after the worker has finished a row, there is no code of the application: this listens. */
export function watchWorker(): void {
  if (KILL_AT === undefined) return;
  subscribe('leasehold:work.claimed', (message) => {
    if ((message as Message).rows !== 0) killPoint('outbox:after-claim');
  });
  subscribe('leasehold:work.settled', (message) => {
    const { row, outcome } = message as Message;
    if (outcome === 'done' && row?.target_role === 'shipping') killPoint('shipping:after-finalize');
  });
}
