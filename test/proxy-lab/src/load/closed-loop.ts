import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../client/outcome.ts';

export interface ClosedLoop {
  readonly requests: number;
  /** So many requests are under way at a time. */
  readonly clients: number;
  /** Sends the request of this number, from 0. */
  readonly next: (number: number) => Promise<Outcome>;
  readonly signal: AbortSignal;
}

/** Clients that were refused wait a while, though not as long as `Retry-After` says: a run has no time for that. */
const AFTER_REFUSAL_MS = 250;

/** Each client sends its next request when the last is over. */
export async function closedLoop({ requests, clients, next, signal }: ClosedLoop): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let number = 0;
  const client = async (): Promise<void> => {
    while (number < requests && !signal.aborted) {
      const outcome = await next(number++);
      outcomes.push(outcome);
      if (outcome.status === 503 || outcome.kind === 'failed') await sleep(AFTER_REFUSAL_MS * (0.5 + Math.random()));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return outcomes;
}
