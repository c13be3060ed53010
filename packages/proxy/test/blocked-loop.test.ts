import { expect, test, vi } from 'vitest';
import { blockEventLoop, holderInOtherProcess } from '../../../test/support/http/other-process.ts';
import { rig } from './support/rig.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

test('an answer that came while the event loop was blocked is not late', async () => {
  const { connect, front } = await rig(await holderInOtherProcess({ delayMs: 50 }), { headTimeout: 150 });
  const client = await connect();
  await client.send(GET).response();
  const sent = new Promise<void>((resolve) => front.server.once('request', () => setImmediate(resolve)));
  client.send(GET);
  await sent;
  blockEventLoop(500);
  expect((await client.response()).text).toBe('holder');
});

test('a connection that was made while the event loop was blocked is not late', async () => {
  const { connect, front } = await rig(await holderInOtherProcess({}), { connectTimeout: 50 });
  const client = await connect();
  const begun = new Promise<void>((resolve) => front.server.once('request', () => process.nextTick(resolve)));
  client.send(GET);
  await begun;
  blockEventLoop(300);
  expect((await client.response()).text).toBe('holder');
});

test('connections that the holder closed while the event loop was blocked are not used', async () => {
  const { connect } = await rig(await holderInOtherProcess({ idleMs: 150 }), {
    idleTimeout: 100,
    before: (request) => {
      if (request.url === '/block') blockEventLoop(500);
    },
  });
  const [first, second] = [await connect(), await connect()];
  for (let round = 0; round < 5; round++) {
    expect((await second.send(GET).response()).text).toBe('holder');
    // Both arrive in one round of the event loop: the second is handled before any timer can run.
    first.send('GET /block HTTP/1.1\r\nHost: a\r\n\r\n');
    second.send(GET);
    expect((await second.response()).text).toBe('holder');
    await first.response();
  }
});

test('what is truly late is still found', async () => {
  const { connect } = await rig(await holderInOtherProcess({ delayMs: 60_000 }), { headTimeout: 100 });
  const client = await connect();
  const started = performance.now();
  expect(JSON.parse((await client.send(GET).response()).text)).toMatchObject({ reason: 'outcome-unknown' });
  expect(performance.now() - started).toBeGreaterThanOrEqual(95);
  await vi.waitFor(() => expect(client.pending).toBe(''));
});
