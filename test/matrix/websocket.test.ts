import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { httpServer } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

onEveryHost(({ rig }) => {
  test('a WebSocket through an instance that does not hold: messages come back in order, and so does the code of its end', async () => {
    const holder = await httpServer(() => {});
    const sockets = new WebSocketServer({ server: holder.server });
    onTestFinished(() => sockets.close());
    sockets.on('connection', (socket) => {
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    const { front, local } = await rig(holder.origin);
    const client = new WebSocket(`${front.origin.replace('http', 'ws')}/m/echo`, 'chat');
    onTestFinished(() => client.terminate());
    const received: string[] = [];
    client.on('message', (data: RawData) => received.push((data as Buffer).toString()));
    await once(client, 'open');
    expect(client.protocol).toBe('chat');
    const sent = Array.from({ length: 20 }, (_, index) => `${index}:${'m'.repeat(index * 100)}`);
    for (const text of sent) client.send(text);
    await vi.waitFor(() => expect(received).toEqual(sent));
    client.close(4_000, 'done');
    expect((await once(client, 'close'))[0]).toBe(4_000);
    expect(local).toEqual([]);
  });
});
