import { describe, expect, test, vi } from 'vitest';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ rig }) => {
  describe('once, and never again', () => {
    test.each([
      ['POST answered 503', 'POST', '503'],
      ['GET answered 503', 'GET', '503'],
      ['POST reset', 'POST', 'reset'],
      ['GET reset', 'GET', 'reset'],
      ['GET redirected', 'GET', '302'],
      ['GET answered 429 with Retry-After', 'GET', '429'],
    ])('%s: the holder sees exactly one request', async (_, method, how) => {
      let seen = 0;
      const holder = await httpServer((request, response) => {
        seen++;
        request.resume();
        if (how === 'reset') request.socket.resetAndDestroy();
        else response.writeHead(Number(how), { Location: '/elsewhere', 'Retry-After': '0' }).end();
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok`).response();
      expect(answer.status).toBe(how === 'reset' ? 503 : Number(how));
      await client.send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(seen).toBe(1);
    });

    test('not on another connection either, when a kept one turns out to be closed', async () => {
      let seen = 0;
      const holder = await rawHolder((socket) => {
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        socket.on('data', () => {
          seen++;
          socket.resetAndDestroy();
        });
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      await client.send(GET).response();
      const answer = await client.send(GET).response();
      expect(JSON.parse(answer.text).reason).toBe('outcome-unknown');
      expect(seen).toBe(1);
      expect(holder.accepted.count).toBe(1);
    });
  });

  describe('connections to the holder', () => {
    test('are closed when idle for longer than the limit', async () => {
      const holder = await httpServer((_, response) => void response.end('ok'));
      const { connect } = await rig(holder.origin, { idleTimeout: 50 });
      await (await connect()).send(GET).response();
      expect(holder.accepted.count).toBe(1);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('are not closed for silence while they are in use, whatever Keep-Alive the holder announced', async () => {
      let slow = false;
      const holder = await httpServer((_, response) => {
        response.setHeader('Keep-Alive', 'timeout=2');
        if (slow) setTimeout(() => response.end('slow'), 400);
        else response.end('fast');
      });
      const { connect } = await rig(holder.origin, { idleTimeout: 100 });
      const client = await connect();
      expect((await client.send(GET).response()).text).toBe('fast');
      slow = true;
      expect((await client.send(GET).response()).text).toBe('slow');
      expect(holder.accepted.count).toBe(1);
    });

    test('that the holder will close soon are not used again', async () => {
      const holder = await httpServer((_, response) => {
        response.setHeader('Keep-Alive', 'timeout=1');
        response.end('ok');
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      for (let round = 0; round < 3; round++) expect((await client.send(GET).response()).status).toBe(200);
      expect(holder.accepted.count).toBe(3);
    });

    test('have no limit that would be a queue: fifty slow requests are fifty connections', async () => {
      const waiting: (() => void)[] = [];
      const holder = await httpServer((_, response) => void waiting.push(() => response.end('ok')));
      const { connect } = await rig(holder.origin);
      const clients = await Promise.all(Array.from({ length: 50 }, connect));
      for (const client of clients) client.send(GET);
      await vi.waitFor(() => expect(waiting).toHaveLength(50));
      for (const finish of waiting) finish();
      for (const client of clients) expect((await client.response()).text).toBe('ok');
      expect(holder.accepted.count).toBe(50);
    });
  });
});
