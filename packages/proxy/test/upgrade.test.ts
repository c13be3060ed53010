import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { rejectedWith } from './support/published.ts';
import { rig, type Rig } from './support/rig.ts';
import { httpServer } from './support/servers.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

function upgrade(path: string, method = 'GET', protocol = 'websocket'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
}

function accept(socket: Duplex): void {
  const answer = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${answer}\r\n\r\n`,
  );
}

/** An application with WebSocket routes of its own behind the proxy. */
async function withUpgrades(holderOrigin: string | null): Promise<Rig> {
  const built = await rig(holderOrigin);
  built.front.server.on('upgrade', (request, socket, head) => {
    if (!built.proxy.handleUpgrade(request, socket, head)) accept(socket);
  });
  return built;
}

describe('an upgrade under a prefix that is not held here', () => {
  test('is refused with a framed 503, and the connection closes', async () => {
    const holder = await httpServer(() => {});
    const { connect, front } = await withUpgrades(holder.origin);
    const messages = rejectedWith('GET');
    const client = await connect();
    const answer = await client.send(upgrade('/m/socket')).response();
    expect(answer).toMatchObject({ status: 503, statusText: 'Service Unavailable' });
    expect(answer.headers).toMatchObject({ connection: 'close', 'content-type': 'application/problem+json', 'retry-after': '5' });
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'upgrade-not-forwarded', role: 'maintenance' });
    expect(answer.headers.date).toBe(new Date(answer.headers.date ?? '').toUTCString());
    await client.untilClosed();
    // At once, as the client has closed too: long before the limit for those that never do.
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
    expect(holder.accepted.count).toBe(0);
    expect(messages.some(({ reason }) => reason === 'upgrade-not-forwarded')).toBe(true);
  });

  test.each([
    ['no-holder', {}],
    ['self', { currentHolder: 'app-01-aaaa' }],
  ])('says why there is nobody to upgrade at: %s', async (reason, change) => {
    const { connect, leasehold } = await withUpgrades('http://127.0.0.1:1');
    Object.assign(leasehold.lease, { currentHolder: null, ...change });
    const client = await connect();
    expect(JSON.parse((await client.send(upgrade('/m')).response()).text).reason).toBe(reason);
  });

  test('carries the marker: a second hop is refused as such', async () => {
    const { connect } = await withUpgrades('http://127.0.0.1:1');
    const client = await connect();
    const answer = await client.send(upgrade('/m').replace('Host: a', 'Host: a\r\nLeasehold-Hop: a;b;0')).response();
    expect(JSON.parse(answer.text).reason).toBe('failover');
  });

  test('has no body for HEAD, and h2c is no tunnel either', async () => {
    const { connect } = await withUpgrades('http://127.0.0.1:1');
    const head = await connect();
    expect((await head.send(upgrade('/m', 'HEAD')).response({ head: true })).status).toBe(503);
    await head.untilClosed();
    expect(head.pending).toBe('');
    const h2c = await connect();
    expect((await h2c.send(upgrade('/m', 'GET', 'h2c')).response()).status).toBe(503);
  });

  test('a client that sent more and closes is gone at once', async () => {
    const { connect, front } = await withUpgrades('http://127.0.0.1:1');
    const client = await connect();
    client.send(upgrade('/m') + 'x'.repeat(100_000));
    expect((await client.response()).status).toBe(503);
    client.socket.end();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
  });

  test('a client that resets, sends on, or never closes harms nobody', async () => {
    const { connect, front } = await withUpgrades('http://127.0.0.1:1');
    const resets = await connect();
    resets.send(upgrade('/m'));
    resets.socket.resetAndDestroy();
    const stays = await connect();
    stays.socket.allowHalfOpen = true;
    stays.send(upgrade('/m') + 'x'.repeat(100_000));
    expect((await stays.response()).status).toBe(503);
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 6_000);
  }, 10_000);

  test('a thousand of them leave nothing behind', async () => {
    const { connect, front } = await withUpgrades('http://127.0.0.1:1');
    for (let batch = 0; batch < 20; batch++) {
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const client = await connect();
          expect((await client.send(upgrade('/m')).response()).status).toBe(503);
        }),
      );
    }
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
  }, 20_000);
});

describe("upgrades that are not the proxy's", () => {
  test('outside the prefixes the application has its own', async () => {
    const { connect } = await withUpgrades('http://127.0.0.1:1');
    const client = await connect();
    expect((await client.send(upgrade('/chat')).response()).status).toBe(101);
  });

  test('held here they are local', async () => {
    const { connect, leasehold } = await withUpgrades('http://127.0.0.1:1');
    leasehold.lease.isHeld = true;
    const client = await connect();
    expect((await client.send(upgrade('/m')).response()).status).toBe(101);
  });
});

test('a 101 that nobody asked for is no silent death: 503', async () => {
  const holder = await httpServer(() => {});
  holder.server.removeAllListeners('request');
  holder.server.on('request', (request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n');
  });
  const { connect } = await rig(holder.origin);
  const client = await connect();
  const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
  expect(JSON.parse(answer.text)).toMatchObject({ status: 503, reason: 'outcome-unknown' });
});
