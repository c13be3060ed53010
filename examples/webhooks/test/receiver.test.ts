import { Agent, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Behaviour, behaviourOf } from '../src/receiver/behaviour.ts';
import { Receiver } from '../src/receiver/receiver.ts';
import { tooSoon } from '../src/receiver/waits.ts';

interface Opened {
  readonly receiver: Receiver;
  readonly address: string;
  readonly post: (key: string) => Promise<Response>;
}

async function openReceiver(...behaviours: Behaviour[]): Promise<Opened> {
  const behaviour = (_event: number, request: number): Behaviour => behaviours[request - 1] ?? { kind: 'ok' };
  const receiver = new Receiver({ behaviour, latencyMs: [0, 0], random: () => 0, askedMs: 60_000 });
  const address = await receiver.open();
  onTestFinished(() => receiver.close());
  const post = (key: string): Promise<Response> =>
    fetch(`${address}/events`, {
      method: 'POST',
      body: JSON.stringify({ event: 7 }),
      headers: { 'idempotency-key': key, 'webhook-attempt': '1', 'user-agent': 'copy-A' },
      signal: AbortSignal.timeout(2_000),
    });
  return { receiver, address, post };
}

test('three requests of ten fail, in every way, alike for the same seed, and no delivery for ever', () => {
  const events = Array.from({ length: 2_000 }, (_, event) => event);
  const all = events.map((event) => behaviourOf(3, event, 1));
  const failed = all.filter(({ kind }) => kind !== 'ok');
  expect(failed.length / all.length).toBeGreaterThan(0.27);
  expect(failed.length / all.length).toBeLessThan(0.33);
  expect(new Set(failed.map((one) => JSON.stringify(one))).size).toBe(7);
  expect(events.map((event) => behaviourOf(3, event, 1))).toEqual(all);
  expect(events.map((event) => behaviourOf(4, event, 1))).not.toEqual(all);
  expect(new Set(events.map((event) => behaviourOf(3, event, 6).kind))).toEqual(new Set(['ok']));
});

test.each(['seconds', 'date'] as const)('a request that comes before the %s that were asked for is counted', async (form) => {
  const { receiver, post } = await openReceiver({ kind: 'later', status: 503, form });
  const answer = await post('a');
  await answer.arrayBuffer();
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(form === 'seconds' ? /^60$/ : / GMT$/);
  await post('b');
  expect(receiver.log.early).toEqual([]);
  await post('a');
  expect(receiver.log.early).toHaveLength(1);
  expect(tooSoon(receiver.log, [60_000])).toBe(1);
  expect(tooSoon(receiver.log, [0])).toBe(0);
});

test('a repeated key is answered and not passed on; another key for the same event would be', async () => {
  const { receiver, post } = await openReceiver({ kind: 'reset' });
  await expect(post('a')).rejects.toThrow('fetch failed');
  expect((await post('a')).status).toBe(200);
  expect([receiver.repeats, receiver.delivered.get(7)]).toEqual([1, 1]);
  await expect(post('b')).rejects.toThrow('fetch failed');
  expect(receiver.delivered.get(7)).toBe(2);
  expect(receiver.log.of('a').map(({ answer }) => answer)).toEqual(['connection reset', '200, it was here before']);
});

test('an answer at which the worker hangs up was heard by nobody, and binds nobody', async () => {
  const { receiver, address, post } = await openReceiver({ kind: 'later', status: 503, form: 'seconds' });
  const { promise: hungUp, resolve } = Promise.withResolvers<void>();
  const headers = { 'idempotency-key': 'a', 'webhook-attempt': '1' };
  const hasty = request(`${address}/events`, { method: 'POST', headers, agent: new Agent({ keepAlive: true }) }, (answer) => {
    answer.socket.destroy();
    resolve();
  });
  hasty.on('error', () => {}).end(JSON.stringify({ event: 7 }));
  await hungUp;
  await expect.poll(() => receiver.log.unheard.size, { timeout: 10_000 }).toBe(1);
  expect((await post('a')).status).toBe(200);
  expect([receiver.log.early, tooSoon(receiver.log, [60_000])]).toEqual([[], 0]);
});
