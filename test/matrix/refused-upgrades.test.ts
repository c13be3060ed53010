import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { forwardedTo, rejectedWith } from '../support/http/published.ts';
import type { RawClient } from '../support/http/raw-client.ts';
import { httpServer, rawHolder, unusedOrigin } from '../support/http/servers.ts';
import { echo, switching, upgrade } from '../support/http/upgrades.ts';
import { onEveryHost } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

const NEVER = (): void => {};

onEveryHost(({ rig }) => {
  describe('an upgrade that the holder answers otherwise', () => {
    test.each([
      ['with a length', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nWWW-Authenticate: Basic\r\n\r\nno', 401, 'no'],
      ['in chunks', 'HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n', 400, 'no'],
      ['until its end', 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\nno', 403, 'no'],
      ['without a body', 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n', 302, ''],
      ['with 204', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n', 204, ''],
    ])('%s: it is relayed with its framing, and the connections close', async (name, bytes, status, text) => {
      const holder = await rawHolder((socket) => {
        socket.write(bytes);
        if (name === 'until its end') socket.end();
      });
      const { connect, front } = await rig(holder.origin);
      const messages = forwardedTo(holder);
      const client = await connect();
      const answer = await client.send(upgrade('/m')).response();
      expect(answer).toMatchObject({ status, text });
      expect(answer.headers.connection).toBe('close');
      expect(answer.headers.upgrade).toBeUndefined();
      await client.untilClosed();
      expect(client.pending).toBe('');
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect(messages).toMatchObject([{ outcome: 'completed', statusCode: status }]);
    });

    test('HEAD has no body', async () => {
      const holder = await rawHolder((socket) => socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(upgrade('/m', { method: 'HEAD' })).response({ head: true });
      expect(answer).toMatchObject({ status: 404, headers: { 'content-length': '5' } });
      await client.untilClosed();
      expect(client.pending).toBe('');
    });

    test('fifty of them leave nothing behind', async () => {
      const holder = await httpServer(NEVER);
      holder.server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'));
      const { connect, front } = await rig(holder.origin, { maxInFlight: 50 });
      const clients = await Promise.all(Array.from({ length: 50 }, connect));
      const answers = await Promise.all(clients.map((client) => client.send(upgrade('/m')).response()));
      expect(answers.every(({ status }) => status === 401)).toBe(true);
      await vi.waitFor(() => expect([front.sockets.size, holder.sockets.size]).toEqual([0, 0]));
    });

    test('a break in its middle is a cut', async () => {
      const holder = await rawHolder((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
      const { connect } = await rig(holder.origin);
      const messages = forwardedTo(holder);
      const client = await connect();
      await client.send(upgrade('/m')).untilText('half');
      await client.untilClosed();
      expect(messages).toMatchObject([{ outcome: 'truncated', statusCode: 200 }]);
    });
  });

  describe('an upgrade that is not forwarded', () => {
    test.each([
      ['no-holder', '1', { currentHolder: null }, {}],
      ['self', '5', { currentHolder: 'app-01-aaaa' }, {}],
      ['address-not-trusted', '5', {}, { trustAddress: () => false }],
    ])('is refused with a framed 503 that says why: %s', async (reason, seconds, change, options) => {
      const { connect, leasehold, front } = await rig('http://127.0.0.1:1', options);
      Object.assign(leasehold.lease, change);
      const messages = rejectedWith('GET');
      const client = await connect();
      const answer = await client.send(upgrade('/m')).response();
      expect(answer).toMatchObject({ status: 503, statusText: 'Service Unavailable' });
      expect(answer.headers).toMatchObject({
        connection: 'close',
        'content-type': 'application/problem+json',
        'retry-after': seconds,
      });
      expect(JSON.parse(answer.text)).toMatchObject({ reason, role: 'maintenance' });
      expect(answer.headers.date).toBe(new Date(answer.headers.date ?? '').toUTCString());
      await client.untilClosed();
      // At once, as the client has closed too: long before the limit for those that never do.
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect(messages).toContainEqual(expect.objectContaining({ reason }));
    });

    test('a second hop is refused as such', async () => {
      const { connect } = await rig('http://127.0.0.1:1');
      const client = await connect();
      const answer = await client.send(upgrade('/m').replace('Host: a', 'Host: a\r\nLeasehold-Hop: a;b;0')).response();
      expect(JSON.parse(answer.text).reason).toBe('failover');
    });

    test('tunnels count: one more than maxInFlight is refused, and the place is given back', async () => {
      const holder = await switching(echo);
      const { connect } = await rig(holder.origin, { maxInFlight: 1 });
      const first = await connect();
      expect((await first.send(upgrade('/m')).response()).status).toBe(101);
      const second = await connect();
      expect(JSON.parse((await second.send(upgrade('/m')).response()).text).reason).toBe('overloaded');
      first.socket.destroy();
      await vi.waitFor(async () => {
        const third = await connect();
        expect((await third.send(upgrade('/m')).response()).status).toBe(101);
      });
    });

    test('has no body for HEAD', async () => {
      const { connect } = await rig(await unusedOrigin());
      const head = await connect();
      expect((await head.send(upgrade('/m', { method: 'HEAD' })).response({ head: true })).status).toBe(503);
      await head.untilClosed();
      expect(head.pending).toBe('');
    });

    test('a client that sent more and closes is gone at once', async () => {
      const { connect, front, leasehold } = await rig('http://127.0.0.1:1');
      leasehold.lease.currentHolder = null;
      const client = await connect();
      client.send(upgrade('/m') + 'x'.repeat(100_000));
      expect((await client.response()).status).toBe(503);
      client.socket.end();
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    });

    test('a client that resets harms nobody', async () => {
      const { connect, front, leasehold } = await rig('http://127.0.0.1:1');
      leasehold.lease.currentHolder = null;
      const resets = await connect();
      resets.send(upgrade('/m'));
      resets.socket.resetAndDestroy();
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect((await (await connect()).send(upgrade('/m')).response()).status).toBe(503);
    });
  });

  describe('an upgrade whose holder fails', () => {
    async function reasonOf(origin: string, options?: RigOptions): Promise<[number, string]> {
      const { connect, front } = await rig(origin, options);
      const client = await connect();
      const answer = await client.send(upgrade('/m')).response();
      await client.untilClosed();
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      return [answer.status, JSON.parse(answer.text).reason];
    }

    test('refused: 503 unreachable', async () => {
      expect(await reasonOf(await unusedOrigin())).toEqual([503, 'unreachable']);
    });

    test('a connection that takes too long: 503 unreachable', async () => {
      // TLS to a server that never says a word: connected, and not ready to be sent anything.
      const silent = await rawHolder(NEVER);
      expect(await reasonOf(silent.origin.replace('http', 'https'), { connectTimeout: 100 })).toEqual([503, 'unreachable']);
      await vi.waitFor(() => expect(silent.sockets.size).toBe(0));
    });

    test.each([
      ['reset', (socket: Socket) => void socket.resetAndDestroy()],
      ['silence', NEVER],
      ['garbage', (socket: Socket) => void socket.write('SSH-2.0-x\r\n\r\n')],
      ['half a head', (socket: Socket) => void socket.end('HTTP/1.1 101 Sw')],
      ['status 099', (socket: Socket) => void socket.write('HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n')],
    ])('%s after it was sent: 503 outcome-unknown', async (_, act) => {
      const holder = await rawHolder(act);
      expect(await reasonOf(holder.origin, { headTimeout: 200 })).toEqual([503, 'outcome-unknown']);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test.each([
      ['resets', (client: RawClient) => void client.socket.resetAndDestroy()],
      ['ends', (client: RawClient) => void client.socket.end()],
    ])('a client that %s before the answer: the holder is left at once', async (_, leave) => {
      const holder = await rawHolder(NEVER);
      const { connect, front } = await rig(holder.origin);
      const messages = forwardedTo(holder);
      const client = await connect();
      client.send(upgrade('/m'));
      await vi.waitFor(() => expect(holder.received()).toContain('Via'));
      leave(client);
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
      expect(messages).toMatchObject([{ outcome: 'client-left', statusCode: null }]);
    });
  });
});
