import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { forwardedTo } from '../support/http/published.ts';
import { httpServer, rawHolder, unusedOrigin } from '../support/http/servers.ts';
import { onEveryHost, unless } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ host, rig }) => {
  describe('errors that come twice or late', () => {
    test('after the whole answer they change nothing', async () => {
      const holder = await rawHolder((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => socket.resetAndDestroy());
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const messages = forwardedTo(holder);
      client.send(GET);
      await vi.waitFor(() => expect(messages).toHaveLength(1));
      expect(['completed', 'truncated']).toContain(messages[0]?.outcome);
      expect(client.pending.match(/HTTP\/1\.1/g)?.length ?? 1).toBe(1);
    });

    test('an answer that waits for a slow client outlives the connection that it came by', async () => {
      const size = 400_000;
      const holder = await rawHolder((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        socket.write(Buffer.alloc(size, 'x'));
      });
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.socket.pause();
      client.send(GET);
      // All of it has come by; a reset before would take along what the kernel still holds.
      await vi.waitFor(() => expect([...front.sockets][0]?.bytesWritten).toBeGreaterThan(size));
      for (const socket of holder.sockets) socket.resetAndDestroy();
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
      client.socket.resume();
      expect((await client.response()).body).toHaveLength(size);
    });

    test('a client that leaves before it has read the whole answer has not got it', async () => {
      let answer: ServerResponse | undefined;
      const holder = await httpServer((_, response) => void (answer = response));
      const messages = forwardedTo(holder);
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.socket.pause();
      client.send(GET);
      await vi.waitFor(() => expect(answer).toBeDefined());
      const [socket] = front.sockets;
      // Until the kernel takes no more and something waits in this process; then the answer ends.
      const isAllTaken = (): boolean => socket?.writableLength === 0;
      while (isAllTaken()) {
        answer?.write(Buffer.alloc(32_768));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      answer?.end();
      await vi.waitFor(() => expect(answer?.writableFinished).toBe(true));
      await new Promise((resolve) => setTimeout(resolve, 50));
      client.socket.destroy();
      await vi.waitFor(() => expect(messages.map(({ outcome }) => outcome)).toEqual(['client-left']));
    });

    test.each([
      ['a connection that is kept', 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['a connection that closes', 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
      ['HTTP/1.0', 'GET /m HTTP/1.0\r\n\r\n'],
      ['HEAD', 'HEAD /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ])('a whole answer on %s is completed', async (_, request) => {
      const holder = await httpServer((_request, response) => void response.end('ok'));
      const messages = forwardedTo(holder);
      const { connect } = await rig(holder.origin);
      (await connect()).send(request);
      await vi.waitFor(() =>
        expect(messages).toEqual([expect.objectContaining({ outcome: 'completed', statusCode: 200, role: 'maintenance' })]),
      );
      expect(messages[0]?.durationMs).toBeGreaterThan(0);
      expect(Object.keys(messages[0] ?? {})).not.toContain('error');
    });

    test('a request that was refused is not published as forwarded', async () => {
      const origin = await unusedOrigin();
      const messages = forwardedTo({ origin });
      const { connect, front } = await rig(origin);
      const client = await connect();
      expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').response()).status).toBe(503);
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect(messages).toEqual([]);
    });

    unless(host.lacks.before)('an answer that somebody else has begun is not answered again', async () => {
      const { connect } = await rig(null, { before: (_, response) => void response.write('begun') });
      const client = await connect();
      client.send(GET);
      await client.untilClosed();
      expect(client.pending.split('HTTP/1.1').length).toBeLessThanOrEqual(2);
      expect(client.pending).not.toContain('problem');
    });
  });
});
