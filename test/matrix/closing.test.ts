import type { ServerResponse } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { httpServer } from '../support/http/servers.ts';
import { echo, switching, upgrade } from '../support/http/upgrades.ts';
import { onEveryHost, unless } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ host, rig }) => {
  const test = unless(host.lacks.closing);

  describe('an application that closes', () => {
    test('cuts the event streams that run through it, and waits for nobody', async () => {
      const holder = await httpServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      });
      const { connect, close } = await rig(holder.origin);
      const client = await connect();
      await client.send(GET.replace('Host: a', 'Host: a\r\nAccept: text/event-stream')).untilText('\r\n\r\n');
      await close();
      await client.untilClosed();
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('cuts the tunnels that run through it', async () => {
      const holder = await switching(echo);
      const { connect, close } = await rig(holder.origin);
      const client = await connect();
      await client.send(upgrade('/m')).response();
      await client.send('x').untilText('echo:x');
      await close();
      await client.untilClosed();
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('lets a request that was forwarded have its answer', async () => {
      const waiting: ServerResponse[] = [];
      const holder = await httpServer((_, response) => void waiting.push(response));
      const { connect, close } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      await vi.waitFor(() => expect(waiting).toHaveLength(1));
      const closed = close();
      waiting[0]?.end('whole');
      expect((await client.response()).text).toBe('whole');
      client.socket.destroy();
      await closed;
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('forwards nothing any more, and says so', async () => {
      const waiting: ServerResponse[] = [];
      const holder = await httpServer((request, response) => {
        if (request.url === '/m/wait') waiting.push(response);
        else response.end('holder');
      });
      const { connect, close } = await rig(holder.origin);
      // A request in flight keeps the application from being gone at once.
      const busy = await connect();
      busy.send(GET.replace('/m', '/m/wait'));
      await vi.waitFor(() => expect(waiting).toHaveLength(1));
      const client = await connect();
      const half = GET.length - 2;
      client.send(GET.slice(0, half));
      await vi.waitFor(() => expect(holder.accepted.count).toBe(1));
      const closed = close();
      const answer = await client.send(GET.slice(half)).response();
      expect([answer.status, answer.headers.connection]).toEqual([503, 'close']);
      expect(JSON.parse(answer.text)).toMatchObject({ reason: 'stopping' });
      waiting[0]?.end();
      await busy.response();
      busy.socket.destroy();
      await closed;
      expect(holder.accepted.count).toBe(1);
    });
  });
});
