import { bury, done, type HandlerOutcome, type Job } from '@leasehold/core/work';
import { expect, onTestFinished, test } from 'vitest';
import { deliver } from '../src/deliver.ts';
import type { Delivery } from '../src/deliveries.ts';
import type { Behaviour } from '../src/receiver/behaviour.ts';
import { Receiver } from '../src/receiver/receiver.ts';

async function openReceiver(behaviour: Behaviour): Promise<{ receiver: Receiver; address: string }> {
  const receiver = new Receiver({ behaviour: () => behaviour, latencyMs: [0, 0], random: () => 0, askedMs: 1_000 });
  const address = await receiver.open();
  onTestFinished(() => receiver.close());
  return { receiver, address };
}

function attempt(url: string, number: number, signal = AbortSignal.timeout(10_000)): Promise<HandlerOutcome> {
  const row: Delivery = { id: 'key-1', url, payload: { event: 1 }, attempts: number, error: null };
  return deliver(row, { attempt: number, signal } as Job<Delivery>, 'copy-A');
}

/** What is in an outcome: the helpers keep it under a symbol. */
function inside(outcome: HandlerOutcome): unknown {
  return Reflect.get(outcome, Object.getOwnPropertySymbols(outcome)[0] as symbol);
}

test('an answer of 200 finishes the row; the key is the id of the row', async () => {
  const { receiver, address } = await openReceiver({ kind: 'ok' });
  expect(await attempt(`${address}/events`, 3)).toEqual(done());
  expect(receiver.log.visits).toMatchObject([{ key: 'key-1', attempt: 3, by: 'copy-A', ok: true }]);
});

test('an answer of 400 buries the row at once', async () => {
  const { address } = await openReceiver({ kind: 'ok' });
  const outcome = await attempt(`${address}/refuses`, 1);
  expect(inside(outcome)).toEqual(inside(bury('HTTP 400')));
});

test.each([
  [1, 300],
  [3, 1_200],
  [9, 2_400],
])('after failure %i the ladder says %i ms', async (number, after) => {
  const { address } = await openReceiver({ kind: 'error' });
  const outcome = await attempt(`${address}/events`, number);
  expect(inside(outcome)).toEqual({ outcome: 'retry', after, set: { error: 'HTTP 500' } });
});

test('Retry-After in seconds is the least, and a longer step of the ladder stays', async () => {
  const { address } = await openReceiver({ kind: 'later', status: 429, form: 'seconds' });
  expect(inside(await attempt(`${address}/events`, 1))).toMatchObject({ outcome: 'retry', after: 1_000 });
  expect(inside(await attempt(`${address}/events`, 4))).toMatchObject({ outcome: 'retry', after: 2_400 });
});

test('Retry-After as a date is the least', async () => {
  const { receiver, address } = await openReceiver({ kind: 'later', status: 503, form: 'date' });
  const outcome = inside(await attempt(`${address}/events`, 1)) as { after: number };
  const [visit] = receiver.log.visits;
  // It counts from the Date of the answer, which is no later than the answer itself.
  expect(outcome.after).toBeGreaterThanOrEqual((visit?.notBefore ?? Number.NaN) - (visit?.answeredAt ?? Number.NaN));
  expect(outcome.after).toBeLessThanOrEqual(3_000);
});

test('a connection that breaks and an answer that does not come are thrown, for the backoff of the worker', async () => {
  const reset = await openReceiver({ kind: 'reset' });
  await expect(attempt(`${reset.address}/events`, 1)).rejects.toThrow('fetch failed');
  const slow = await openReceiver({ kind: 'slow' });
  await expect(attempt(`${slow.address}/events`, 1, AbortSignal.timeout(500))).rejects.toThrow('timeout');
});
