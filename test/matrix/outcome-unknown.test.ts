import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { rejectedWith } from '../support/http/published.ts';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost, unless } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function problem(text: string): { status: number; reason: string; detail: string } {
  return JSON.parse(text) as { status: number; reason: string; detail: string };
}

onEveryHost(({ host, rig }) => {
  describe('sent, and no answer: outcome-unknown', () => {
    test('the body says that it may have run', async () => {
      const holder = await rawHolder((socket) => void socket.destroy());
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send(GET).response();
      expect(problem(answer.text)).toMatchObject({
        status: 503,
        reason: 'outcome-unknown',
        detail: expect.stringContaining('may have been executed'),
      });
      expect(answer.headers['retry-after']).toBe('13');
      expect(answer.headers['proxy-status']).toBe('leasehold; error=connection_terminated; details="outcome-unknown"');
    });

    test.each([
      ['a reset', (socket: Socket) => void socket.resetAndDestroy()],
      ['an end', (socket: Socket) => void socket.end()],
      ['half a head', (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nX-Ha')],
      ['no HTTP', (socket: Socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
      ['status 0', (socket: Socket) => void socket.end('HTTP/1.1 0 Zero\r\nContent-Length: 0\r\n\r\n')],
      ['status 099', (socket: Socket) => void socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')],
      ['status 1000', (socket: Socket) => void socket.end('HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n')],
      ['101 as the final answer', (socket: Socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
      ['100 and then nothing', (socket: Socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
      [
        'a control character in a value',
        (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'),
      ],
      [
        'a length and chunks',
        (socket: Socket) =>
          void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      ],
      [
        'two lengths',
        (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'),
      ],
      [
        'gzip as transfer coding',
        (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
      ],
    ])('%s: one 503, and the process lives', async (_, misbehave) => {
      const holder = await rawHolder((socket) => misbehave(socket));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      for (let round = 0; round < 2; round++) {
        expect(problem((await client.send(GET).response()).text)).toMatchObject({ status: 503, reason: 'outcome-unknown' });
      }
      expect(client.pending).toBe('');
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('no head in time, with a code of its own, and the request is given up', async () => {
      const holder = await httpServer(() => {});
      const { connect } = await rig(holder.origin, { headTimeout: 100 });
      const rejected = rejectedWith('REPORT');
      const client = await connect();
      const answer = await client.send('REPORT /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(problem(answer.text).reason).toBe('outcome-unknown');
      expect(answer.headers['proxy-status']).toContain('error=http_response_timeout');
      expect(rejected).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: 'ETIMEDOUT' }) })]);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('an upload may take longer than a head may, if it moves or rests on the side of the client', async () => {
      const holder = await httpServer((request, response) => void request.resume().on('end', () => response.end('done')));
      const { connect } = await rig(holder.origin, { headTimeout: 100 });
      const client = await connect();
      client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab');
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(client.pending).toBe('');
      expect((await client.send('cd').response()).text).toBe('done');
    });

    test('an upload that the holder does not take is given up', async () => {
      const holder = await httpServer(() => {});
      const { connect } = await rig(holder.origin, { headTimeout: 200 });
      const client = await connect();
      client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n').send(Buffer.alloc(20_000_000));
      expect(problem((await client.response()).text).reason).toBe('outcome-unknown');
    });

    unless(host.lacks.before)('a head that a merge cannot write leaves none of its fields on the 503', async () => {
      const holder = await rawHolder(
        (socket) => void socket.end('HTTP/1.1 200 OK\r\nSet-Cookie: secret=1\r\nContent-Length: 0\r\n\r\n'),
      );
      const { connect } = await rig(holder.origin, {
        before(_, response) {
          let first = true;
          const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
          response.writeHead = (...args: unknown[]) => {
            if (first) {
              first = false;
              throw new Error('a broken hook');
            }
            return writeHead(...args);
          };
        },
      });
      const answer = await (await connect()).send(GET).response();
      expect(answer.status).toBe(503);
      expect(answer.lines.join()).not.toContain('secret');
    });
  });
});
