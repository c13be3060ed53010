import { describe, expect, test } from 'vitest';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ rig }) => {
  describe('interim answers', () => {
    test('103 is relayed with its own fields, and the final answer is not disturbed', async () => {
      const holder = await rawHolder((socket) => {
        socket.write(
          'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>; rel="preload"; as=script\r\nConnection: X-N\r\nX-N: 1\r\nX-L: caf\xe9\r\n\r\n',
          'latin1',
        );
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nLink: </c>\r\nContent-Length: 2\r\n\r\nok'), 20);
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const early = await client.send(GET).response();
      expect(early).toMatchObject({ status: 103, statusText: 'Early Hints' });
      expect(early.lines).toEqual(['Link: </a.css>; rel=preload', 'Link: </b.js>; rel="preload"; as=script', 'X-L: caf\xe9']);
      const final = await client.response();
      expect(final).toMatchObject({ status: 200, text: 'ok' });
      expect(final.lines.filter((line) => line.startsWith('Link'))).toEqual(['Link: </c>']);
    });

    test('several in a row, of known and unknown kinds, come in order', async () => {
      const holder = await rawHolder((socket) => {
        socket.end(
          'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 150 Odd\r\nX: 1\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
        );
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      const statuses: number[] = [];
      for (let round = 0; round < 4; round++) statuses.push((await client.response()).status);
      expect(statuses).toEqual([102, 103, 150, 204]);
    });

    test('a client of HTTP/1.0 gets none', async () => {
      const holder = await rawHolder(
        (socket) => void socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      );
      const { connect } = await rig(holder.origin);
      expect((await (await connect()).send('GET /m HTTP/1.0\r\n\r\n').response()).status).toBe(200);
    });

    test('a pipelined request gets none before its turn', async () => {
      const holder = await httpServer((request, response) => {
        if (request.url === '/m/1') setTimeout(() => response.end('first'), 50);
        else response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.end('second'));
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send('GET /m/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /m/2 HTTP/1.1\r\nHost: a\r\n\r\n');
      expect((await client.response()).text).toBe('first');
      expect((await client.response()).text).toBe('second');
    });

    test.each([
      ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['a 103 that is never followed', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ])('%s and then a break is a 503', async (_, text) => {
      const holder = await rawHolder((socket) => void socket.end(text));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      expect((await client.response()).status).toBeLessThan(200);
      expect(JSON.parse((await client.response()).text).reason).toBe('outcome-unknown');
    });
  });

  describe('Expect: 100-continue', () => {
    const head = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';

    test('works without anything attached: Node says 100 here, and the field goes no further', async () => {
      const holder = await httpServer((request, response) => {
        response.setHeader('X-Expect', String(request.headers.expect));
        request.pipe(response);
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      expect((await client.send(head).response()).status).toBe(100);
      const answer = await client.send('hello').response();
      expect(answer).toMatchObject({ status: 200, text: 'hello', headers: { 'x-expect': 'undefined' } });
    });
  });
});
