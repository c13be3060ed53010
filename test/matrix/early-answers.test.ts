import { describe, expect, test, vi } from 'vitest';
import { forwardedTo } from '../support/http/published.ts';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ rig }) => {
  describe('a client that leaves before there is an answer', () => {
    test('the request to the holder is given up at once, and it is no failure', async () => {
      const holder = await httpServer(() => {});
      const messages = forwardedTo(holder);
      const { connect, front } = await rig(holder.origin);
      for (let round = 1; round <= 3; round++) {
        const client = await connect();
        client.send(GET);
        await vi.waitFor(() => expect(holder.accepted.count).toBe(round));
        client.socket.destroy();
        await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
      }
      expect(messages.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual(
        Array.from({ length: 3 }, () => ['client-left', null]),
      );
    });

    test('two hundred aborted downloads leave nothing open', async () => {
      const holder = await httpServer((_, response) => {
        response.writeHead(206, { 'Content-Length': 50_000_000 });
        response.write(Buffer.alloc(100_000));
      });
      const { connect, front } = await rig(holder.origin);
      for (let batch = 0; batch < 10; batch++) {
        const clients = await Promise.all(Array.from({ length: 20 }, connect));
        for (const client of clients) client.send('GET /m HTTP/1.1\r\nHost: a\r\nRange: bytes=0-\r\n\r\n');
        await Promise.all(clients.map((client) => client.untilText('\r\n\r\n')));
        for (const client of clients) client.socket.destroy();
      }
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
    });
  });

  describe('an answer before the upload is over', () => {
    const large = 3_000_000;

    test.each([
      ['keeps reading', false],
      ['closes', true],
    ])('of a holder that %s: the client has it, and its connection is usable or closed', async (_, closes) => {
      const holder = await httpServer((request, response) => {
        if (request.url === '/m/next') {
          response.end('next');
          return;
        }
        if (closes) response.setHeader('Connection', 'close');
        response.writeHead(413, { 'Content-Length': 9 });
        response.end('too large');
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${large}\r\n\r\n`).send(Buffer.alloc(100_000));
      const answer = await client.response();
      expect(answer).toMatchObject({ status: 413, text: 'too large' });
      client.send(Buffer.alloc(large - 100_000)).send('GET /m/next HTTP/1.1\r\nHost: a\r\n\r\n');
      if (answer.headers.connection === 'close') await client.untilClosed();
      else expect((await client.response()).text).toBe('next');
    });

    test('of the proxy itself: the same', async () => {
      const { connect, leasehold } = await rig(null);
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${large}\r\n\r\n`).send(Buffer.alloc(100_000));
      expect((await client.response()).status).toBe(503);
      leasehold.lease.isHeld = true;
      client.send(Buffer.alloc(large - 100_000)).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n');
      expect((await client.response()).text).toBe('local');
    });

    test('of a holder that dies during the upload: one answer, and the connection goes on', async () => {
      const holder = await rawHolder((socket) => void setImmediate(() => socket.resetAndDestroy()));
      const { connect, leasehold } = await rig(holder.origin);
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${large}\r\n\r\n`).send(Buffer.alloc(large));
      const answer = await client.response();
      expect(JSON.parse(answer.text)).toMatchObject({ status: 503, reason: 'outcome-unknown' });
      leasehold.lease.isHeld = true;
      expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
    });
  });
});
