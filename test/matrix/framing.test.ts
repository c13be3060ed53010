import http, { type IncomingMessage } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { onEveryHost, unless } from './on-every-host.ts';
import { httpServer, rawHolder, type TestServer } from '../support/http/servers.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: string[];
}

/** A holder that notes each request it executes and answers with its body. */
async function noting(): Promise<{ holder: TestServer; seen: Seen[] }> {
  const seen: Seen[] = [];
  const holder = await httpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      const { method = '', url = '', headers, rawTrailers: trailers } = request;
      seen.push({ method, url, body, headers, trailers });
      response.end(`got ${body}`);
    });
  });
  return { holder, seen };
}

function chunked(...parts: string[]): string {
  return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
}

onEveryHost(({ host, rig }) => {
  describe('request bodies', () => {
    test.each(['DELETE', 'OPTIONS', 'GET', 'PUT'])('%s with a length keeps its length and its bytes', async (method) => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{"a":1}`).response();
      expect(seen[0]).toMatchObject({ body: '{"a":1}', headers: { 'content-length': '7' } });
      expect(seen[0]?.headers['transfer-encoding']).toBeUndefined();
    });

    test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'PURGE'])('%s without a body gets no framing', async (method) => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      expect((await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\n\r\n`).response()).text).toBe('got ');
      expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('transfer-encoding');
      expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('content-length');
    });

    test('chunks in many packets arrive whole and in order', async () => {
      const { holder } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send('POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      const parts = Array.from({ length: 20 }, (_, index) => `part-${index};`);
      for (const part of parts) {
        client.send(`${part.length.toString(16)}\r\n`);
        await new Promise(setImmediate);
        client.send(`${part}\r\n`);
      }
      client.send('0\r\n\r\n');
      expect((await client.response()).text).toBe(`got ${parts.join('')}`);
    });

    unless(host.lacks.before)('a body that an earlier hook has paused arrives', async () => {
      const { holder } = await noting();
      const { connect } = await rig(holder.origin, { before: (request) => void request.pause() });
      const client = await connect();
      expect((await client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc').response()).text).toBe('got abc');
    });

    test('a head is sent though its body has not begun', async () => {
      const holder = await httpServer((_, response) => void response.end('early'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
      expect((await client.response()).text).toBe('early');
    });

    test.each(['gzip, chunked', 'chunked, chunked', 'identity', 'x'])(
      'Transfer-Encoding: %s is never relabelled: 501 or 400, and the holder sees nothing',
      async (coding) => {
        const { holder, seen } = await noting();
        const { connect } = await rig(holder.origin);
        const client = await connect();
        client.send(`POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n${chunked('abc')}`);
        expect([400, 501]).toContain((await client.response()).status);
        expect(seen).toEqual([]);
      },
    );

    test('gzip, chunked is answered 501 with a problem, and the connection goes on', async () => {
      const { connect, leasehold } = await rig('http://127.0.0.1:1');
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunked('abc')}`);
      const answer = await client.response();
      expect(answer.status).toBe(501);
      expect(JSON.parse(answer.text).reason).toBe('unsupported-transfer-encoding');
      expect(answer.headers['retry-after']).toBeUndefined();
      leasehold.lease.isHeld = true;
      expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
    });

    test('two Transfer-Encoding fields are not taken for one', async () => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(
        `POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('abc')}`,
      );
      expect((await client.response()).status).toBe(501);
      expect(seen).toEqual([]);
    });

    unless(host.lacks.serverOptions)('with a lenient parser, a length beside chunks is left out', async () => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin, { server: { insecureHTTPParser: true } });
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('abc')}`);
      expect((await client.response()).text).toBe('got abc');
      expect(seen[0]?.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
      expect(seen[0]?.headers['content-length']).toBeUndefined();
    });

    test('a client that leaves in the middle of its body: the holder sees no end', async () => {
      const events: string[] = [];
      const holder = await httpServer((request) => {
        request.on('data', () => events.push('data'));
        request.on('end', () => events.push('end'));
        request.on('aborted', () => events.push('aborted'));
        request.on('error', () => {});
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send('POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
      await vi.waitFor(() => expect(events).toEqual(['data']));
      client.socket.destroy();
      await vi.waitFor(() => expect(events).toEqual(['data', 'aborted']));
    });
  });

  describe('Connection', () => {
    test('removes what it nominates, whatever its place and case', async () => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      await client
        .send(
          'GET /m HTTP/1.1\r\nHost: a\r\nx-one: 1\r\nConnection: X-One, keep-alive\r\nConnection: x-TWO\r\nX-Two: 2\r\nX-Three: 3\r\n\r\n',
        )
        .response();
      const headers = seen[0]?.headers ?? {};
      expect(headers).toMatchObject({ 'x-three': '3', host: 'a' });
      expect(headers['x-one']).toBeUndefined();
      expect(headers['x-two']).toBeUndefined();
      expect(headers.connection).toBeUndefined();
    });

    test('close from the client does not close the connection to the holder', async () => {
      const { holder } = await noting();
      const { connect } = await rig(holder.origin);
      for (let round = 0; round < 3; round++) {
        const client = await connect();
        const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').response();
        expect(answer.headers.connection).toBe('close');
        await client.untilClosed();
      }
      expect(holder.accepted.count).toBe(1);
    });

    test('of the answer works the same way, and never takes the length', async () => {
      const holder = await rawHolder((socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nX-Gone: 1\r\nConnection: x-gone, Content-Length, keep-alive\r\nKeep-Alive: timeout=99\r\nProxy-Authenticate: Basic\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok',
        );
      });
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(answer).toMatchObject({ text: 'ok', headers: { 'x-kept': '1', 'content-length': '2' } });
      expect(answer.headers['keep-alive']).not.toBe('timeout=99');
      expect(answer.headers['x-gone']).toBeUndefined();
      expect(answer.headers['proxy-authenticate']).toBeUndefined();
    });
  });

  describe('upgrade fields on a server without upgrade listeners', () => {
    test('h2c is not tunnelled: the fields are removed and the request goes on', async () => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(
        'GET /m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
      );
      expect((await client.response()).text).toBe('got ');
      expect(seen[0]?.headers.upgrade).toBeUndefined();
      expect(seen[0]?.headers['http2-settings']).toBeUndefined();
      expect(seen[0]?.headers.connection).toBeUndefined();
    });
  });

  describe('addresses', () => {
    test('two holders whose address and path concatenate alike are never confused', async () => {
      const { connect, leasehold } = await rig(null);
      const first = await httpServer((request, response) => void response.end(`first ${request.url}`));
      const second = await httpServer((request, response) => void response.end(`second ${request.url}`));
      const client = await connect();
      for (const [holder, name] of [
        [first, 'first'],
        [second, 'second'],
        [first, 'first'],
      ] as const) {
        leasehold.lease.currentHolderAddress = holder.origin;
        expect((await client.send('GET /m/1 HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe(`${name} /m/1`);
      }
    });
  });

  describe('request target', () => {
    test.each([
      '/m',
      '/m?',
      '/m/a//b/../c',
      '/m/%2e%2e/%2F?x=%20&y=a+b',
      '/m/{}|^`"<>',
      '/m?q=1?2#3',
      'http://other.example/m/x',
      `/m/${'x'.repeat(4_000)}`,
    ])('%s arrives byte for byte', async (target) => {
      const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
      const { connect, local } = await rig(holder.origin);
      const client = await connect();
      expect((await client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).response()).status).toBe(204);
      expect(holder.received()).toContain(`GET ${target} HTTP/1.1\r\n`);
      expect(local).toEqual([]);
    });

    test('methods that Node knows go through as they are', async () => {
      const { holder, seen } = await noting();
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const methods = http.METHODS.filter((method) => !['CONNECT', 'HEAD', 'QUERY', 'PRI'].includes(method));
      for (const method of methods) await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`).response();
      expect(seen.map(({ method }) => method)).toEqual(methods);
    });
  });
});
