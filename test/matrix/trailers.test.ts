import { describe, expect, test } from 'vitest';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ rig }) => {
  describe('trailers', () => {
    test('of an answer are relayed with their announcement', async () => {
      const holder = await rawHolder((socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nTrailer: X-Sum, x-l\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nx-l: caf\xe9\r\n\r\n',
          'latin1',
        );
      });
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send(GET).response();
      expect(answer).toMatchObject({ text: 'ok', headers: { trailer: 'X-Sum, x-l' }, trailers: ['X-Sum: 1', 'x-l: caf\xe9'] });
    });

    test('of an answer that did not announce them are relayed too, except those that frame or route', async () => {
      const holder = await rawHolder((socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nHost: evil\r\nX-Sum: 1\r\nKeep-Alive: timeout=9\r\n\r\n',
        );
      });
      const { connect } = await rig(holder.origin);
      expect((await (await connect()).send(GET).response()).trailers).toEqual(['X-Sum: 1']);
    });

    test('beside a length: the announcement is dropped, the body delivered, and the process lives', async () => {
      const holder = await rawHolder(
        (socket) => void socket.write('HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok'),
      );
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send(GET).response();
      expect(answer.text).toBe('ok');
      expect(answer.headers.trailer).toBeUndefined();
    });

    test('for an HTTP/1.0 client the announcement is dropped with the value', async () => {
      const holder = await rawHolder((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n');
      });
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send('GET /m HTTP/1.0\r\n\r\n').response();
      expect(answer.text).toBe('ok');
      expect(answer.lines.join()).not.toMatch(/trailer|transfer-encoding/i);
    });

    test('of a request reach the holder', async () => {
      const holder = await httpServer((request, response) => {
        request.resume().on('end', () => response.end(JSON.stringify([request.headers.trailer, request.rawTrailers])));
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(
        'POST /m HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nLeasehold-Hop: x\r\n\r\n',
      );
      expect(JSON.parse((await client.response()).text)).toEqual(['X-Sum', ['X-Sum', '1']]);
    });

    test('announced by a request without chunks, the announcement goes no further', async () => {
      const holder = await httpServer(
        (request, response) => void request.resume().on('end', () => response.end(String(request.headers.trailer))),
      );
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send('POST /m HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok').response();
      expect(answer.text).toBe('undefined');
    });
  });

  describe('answers without a body', () => {
    const next = 'GET /m/next HTTP/1.1\r\nHost: a\r\n\r\n';

    test.each([
      ['HEAD with a length', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', { 'content-length': '100' }],
      ['HEAD with chunks', 'HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', {}],
      ['HEAD with neither', 'HEAD', 'HTTP/1.1 200 OK\r\n\r\n', {}],
      ['HEAD with a trailer', 'HEAD', 'HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n', {}],
      ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n', {}],
      ['204 with chunks', 'GET', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', {}],
      ['204 with a length', 'GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc', {}],
      [
        '304 with a length',
        'GET',
        'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\nETag: "x"\r\n\r\n',
        { etag: '"x"', 'content-length': '100' },
      ],
      ['304 with chunks', 'GET', 'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n', {}],
      ['304 with a trailer', 'GET', 'HTTP/1.1 304 Not Modified\r\nTrailer: X\r\n\r\n', {}],
    ])('%s: framed rightly, and the next request on the connection works', async (_, method, answer, expected) => {
      let count = 0;
      const holder = await rawHolder(
        (socket) => void socket.end(count++ === 0 ? answer : 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext'),
      );
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const first = await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\n\r\n`).response({ head: true });
      expect(first.headers).toMatchObject(expected);
      expect(first.lines.join()).not.toMatch(/transfer-encoding|trailer/i);
      expect(Object.keys(first.headers).filter((name) => name === 'content-length')).toEqual(
        Object.keys(expected).filter((name) => name === 'content-length'),
      );
      expect(client.pending).toBe('');
      expect((await client.send(next).response()).text).toBe('next');
    });

    test('a length of 0 stays one', async () => {
      const holder = await httpServer((_, response) => void response.writeHead(200, { 'Content-Length': 0 }).end());
      const { connect } = await rig(holder.origin);
      const client = await connect();
      for (let round = 0; round < 2; round++) {
        expect(await client.send(GET).response()).toMatchObject({ status: 200, text: '', headers: { 'content-length': '0' } });
      }
    });
  });
});
