import { once } from 'node:events';
import { onTestFinished, expect, test, vi } from 'vitest';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { forwardedTo } from '../../../test/support/http/published.ts';
import { httpServer } from '../../../test/support/http/servers.ts';
import { withUpgrades } from './support/upgrades.ts';

const MESSAGES = 10_000;

test('10,000 messages of a WebSocket come back through an instance that does not hold, whole and in order', async () => {
  const holder = await httpServer(() => {});
  const sockets = new WebSocketServer({ server: holder.server });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  onTestFinished(() => sockets.close());
  const { front } = await withUpgrades(holder.origin);
  const messages = forwardedTo(holder);
  const client = new WebSocket(`${front.origin.replace('http', 'ws')}/m/echo`, 'chat', { perMessageDeflate: true });
  onTestFinished(() => client.terminate());
  const received: string[] = [];
  client.on('message', (data: RawData) => received.push((data as Buffer).toString()));
  await once(client, 'open');
  expect(client.protocol).toBe('chat');
  const sent = Array.from({ length: MESSAGES }, (_, index) => `${index}:${'m'.repeat(index % 300)}`);
  for (const text of sent) client.send(text);
  await vi.waitFor(() => expect(received).toHaveLength(MESSAGES), 15_000);
  expect(received).toEqual(sent);
  client.close(4_000, 'done');
  const [code] = (await once(client, 'close')) as [number];
  expect(code).toBe(4_000);
  await vi.waitFor(() => expect([front.sockets.size, holder.sockets.size]).toEqual([0, 0]));
  expect(messages).toMatchObject([{ outcome: 'completed', statusCode: 101 }]);
}, 30_000);
