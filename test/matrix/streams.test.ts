import { type ServerResponse } from 'node:http';
import { createGunzip } from 'node:zlib';
import compression from 'compression';
import { describe, expect, test, vi } from 'vitest';
import { forwardedTo } from '../support/http/published.ts';
import { httpServer, rawHolder, type TestServer } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

/** A holder that opens an event stream and hands it to the test. */
async function sseHolder(
  type = 'text/event-stream',
): Promise<{ holder: TestServer; stream(): Promise<ServerResponse>; streams: ServerResponse[] }> {
  const streams: ServerResponse[] = [];
  const holder = await httpServer((_, response) => {
    response.writeHead(200, { 'Content-Type': type });
    response.flushHeaders();
    streams.push(response);
  });
  const stream = (): Promise<ServerResponse> => vi.waitFor(() => streams.at(-1) ?? Promise.reject(new Error('no stream yet')));
  return { holder, stream, streams };
}

onEveryHost(({ host, rig }) => {
  describe('event streams', () => {
    test('the head comes at once and each event as it is sent', async () => {
      const { holder, stream } = await sseHolder();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      await client.untilText('Content-Type: text/event-stream\r\n');
      await client.untilText('\r\n\r\n');
      const events = await stream();
      for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
        events.write(text);
        await client.untilText(text);
      }
      events.end();
      expect((await client.response()).text).toBe('data: 1\n\ndata: 2\n\n');
    });

    test('an answer of known length comes in one packet with its head', async () => {
      const holder = await httpServer((_, response) => void response.end('{"ok":true}'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const packets: string[] = [];
      client.socket.on('data', (chunk: Buffer) => packets.push(chunk.toString('latin1')));
      await client.send(GET).response();
      expect(packets).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\{"ok":true\}$/)]);
    });

    test('compression() in front of the proxy holds nothing back', async () => {
      const { holder, stream } = await sseHolder();
      const compress = compression();
      const { connect } = await rig(holder.origin, {
        before: (request, response) => void compress(request as never, response as never, () => {}),
      });
      const client = await connect();
      client.send('GET /m HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
      const events = await stream();
      if (host.lacks.before !== null) {
        // What cannot stand in front of the proxy compresses nothing of it.
        events.write('data: 1\n\n');
        await client.untilText('data: 1\n\n');
        expect(client.pending).not.toContain('gzip');
        return;
      }
      await client.untilText('Content-Encoding: gzip\r\n');
      const gunzip = createGunzip();
      let text = '';
      gunzip.on('data', (chunk: Buffer) => (text += chunk.toString()));
      gunzip.on('error', () => {});
      let fed = 0;
      const feed = (): void => {
        const body = client.pending.slice(client.pending.indexOf('\r\n\r\n') + 4);
        const bytes = Buffer.from(body.slice(fed), 'latin1');
        const line = bytes.indexOf('\r\n');
        const size = Number.parseInt(bytes.subarray(0, Math.max(line, 0)).toString(), 16);
        if (line === -1 || bytes.length < line + 2 + size + 2) return;
        gunzip.write(bytes.subarray(line + 2, line + 2 + size));
        fed += line + 2 + size + 2;
        feed();
      };
      for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        events.write(event);
        await vi.waitFor(() => {
          feed();
          expect(text).toContain(event);
        });
      }
    });

    // Longer than every limit of the proxy, which all are short here: that a stream may rest for hours is the same case.
    test.each(['text/event-stream', 'text/event-stream; charset=utf-8'])('silence is no reason to end one: %s', async (type) => {
      const { holder, stream } = await sseHolder(type);
      const { connect } = await rig(holder.origin, { headTimeout: 30, idleTimeout: 30, connectTimeout: 30 });
      const client = await connect();
      client.send(GET);
      const events = await stream();
      await client.untilText('\r\n\r\n');
      await new Promise((resolve) => setTimeout(resolve, 200));
      events.write('data: still here\n\n');
      await client.untilText('still here');
    });

    test('a holder that dies destroys the client connection, and ends nothing', async () => {
      const { holder, stream } = await sseHolder();
      const messages = forwardedTo(holder);
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      const events = await stream();
      events.write('data: 1\n\n');
      await client.untilText('data: 1');
      const started = performance.now();
      events.socket?.destroy();
      await client.untilClosed();
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(client.pending.endsWith('0\r\n\r\n')).toBe(false);
      expect(client.pending).not.toContain('application/problem');
      await vi.waitFor(() => expect(messages).toEqual([expect.objectContaining({ outcome: 'truncated', statusCode: 200 })]));
    });

    test('a client that leaves ends the stream at the holder', async () => {
      const { holder, stream } = await sseHolder();
      const messages = forwardedTo(holder);
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      const events = await stream();
      const closed = new Promise((resolve) => events.on('close', resolve));
      await client.untilText('\r\n\r\n');
      client.socket.destroy();
      await closed;
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
      expect(messages).toEqual([expect.objectContaining({ outcome: 'client-left', statusCode: 200, holder: 'app-02-bbbb' })]);
      expect(messages[0]?.error).toBeUndefined();
    });

    test('a client that pipelined two streams and leaves ends both', async () => {
      const { holder, streams } = await sseHolder();
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.send(GET + GET);
      await vi.waitFor(() => expect(streams).toHaveLength(2));
      client.socket.destroy();
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
    });
  });

  describe('answers that break', () => {
    test.each([
      ['a length that is not reached', 'Content-Length: 100\r\n\r\n0123456789'],
      ['a length and nothing', 'Content-Length: 100\r\n\r\n'],
      ['a chunk that is not finished', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabc'],
      ['a last chunk that is missing', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
      ['a chunk size that is none', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'],
    ])('%s: the connection is cut, nothing is appended, the process lives', async (_, rest) => {
      const holder = await rawHolder((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      await client.untilClosed();
      expect(client.pending).not.toMatch(/0\r\n\r\n$/);
      expect(client.pending).not.toContain('problem');
      expect((await (await connect()).send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
    });

    test('a reset in the middle is a break too', async () => {
      const holder = await rawHolder((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123', () => socket.resetAndDestroy());
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(GET);
      await client.untilClosed();
      expect(client.pending === '' || client.pending.endsWith('\r\n\r\n') || client.pending.endsWith('0123')).toBe(true);
    });

    test('an HTTP/1.0 client, which knows the end by the connection alone, sees a reset', async () => {
      const { holder, stream } = await sseHolder();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send('GET /m HTTP/1.0\r\n\r\n');
      const events = await stream();
      events.write('data: 1\n\n');
      await client.untilText('data: 1');
      expect(client.pending).not.toContain('chunked');
      events.socket?.destroy();
      await vi.waitFor(() => expect(client.error).toMatchObject({ code: 'ECONNRESET' }));
    });

    test('a pipelined answer that breaks before its turn lets the one in front of it finish', async () => {
      let first: ServerResponse | undefined;
      const holder = await httpServer((request, response) => {
        if (request.url === '/m/1') first = response;
        else response.write('x', () => response.destroy());
      });
      const { connect } = await rig(holder.origin);
      const messages = forwardedTo(holder);
      const client = await connect();
      client.send('GET /m/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /m/2 HTTP/1.1\r\nHost: a\r\n\r\n');
      await vi.waitFor(() => expect(messages).toHaveLength(1));
      first?.end('whole');
      expect((await client.response()).text).toBe('whole');
      await client.untilClosed();
    });

    test('an answer without length or chunks ends with its connection, and is whole', async () => {
      const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(GET).response();
      expect(answer).toMatchObject({ text: 'all of it', headers: { 'transfer-encoding': 'chunked' } });
    });
  });
});
