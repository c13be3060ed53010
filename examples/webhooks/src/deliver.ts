import { bury, done, type HandlerOutcome, type Job, ladder, retryIn } from '@leasehold/core/work';
import type { Delivery } from './deliveries.ts';

/** When it is tried again: the last step for all that follow. Short, to be watched; in earnest these are minutes and hours. */
export const STEPS = ['300ms', '600ms', '1.2s', '2.4s'] as const;

/** One attempt. What it throws, because the connection broke or no answer came in time, is tried again by the same ladder. */
export async function deliver(row: Delivery, job: Job<Delivery>, label: string): Promise<HandlerOutcome> {
  const answer = await fetch(row.url, {
    method: 'POST',
    body: JSON.stringify(row.payload),
    headers: {
      'content-type': 'application/json',
      // The same with each attempt: the receiver may have the delivery already, though nobody here has heard so.
      'idempotency-key': row.id,
      'webhook-attempt': String(job.attempt),
      'user-agent': label,
    },
    signal: job.signal,
  });
  // Read to its end, so that the connection serves the next one.
  await answer.arrayBuffer();
  if (answer.ok) return done();
  const error = `HTTP ${answer.status}`;
  // Never sooner than the receiver asks for with Retry-After, and never sooner than the ladder says.
  if (answer.status === 429 || answer.status >= 500) return retryIn(ladder(job.attempt ?? 1, STEPS, answer), { error });
  // Another attempt would be answered alike.
  return bury(error);
}
