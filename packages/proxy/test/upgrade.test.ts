import { describe, expect, test, vi } from 'vitest';
import { httpServer, rawHolder } from '../../../test/support/http/servers.ts';
import { SWITCH, upgrade } from '../../../test/support/http/upgrades.ts';
import { withUpgrades } from './support/upgrades.ts';

const NEVER = (): void => {};

test('an upgrade before the answer to an earlier request of its connection ends that connection, and nothing else', async () => {
  const holder = await httpServer(NEVER);
  const { connect } = await withUpgrades(holder.origin);
  const client = await connect();
  client.send('GET /m/slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await vi.waitFor(() => expect(holder.sockets.size).toBe(1));
  await client.send(upgrade('/m')).untilClosed();
  expect([client.pending, holder.accepted.count]).toEqual(['', 1]);
  await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
});

describe('an upgrade that the holder accepts', () => {
  test('what the client sends before the answer waits for it, a little here and the rest with the client', async () => {
    let accept = NEVER;
    const holder = await rawHolder((socket) => (accept = () => socket.write(SWITCH)));
    const { connect, front } = await withUpgrades(holder.origin);
    const client = await connect();
    const early = 'x'.repeat(4_000_000);
    client.send(upgrade('/m')).send(early);
    await vi.waitFor(() => expect(accept).not.toBe(NEVER));
    const [socket] = front.sockets;
    await vi.waitFor(() => expect(socket?.bytesRead).toBeGreaterThan(65_536));
    // An answer to somebody else in between: what was to be read has been by then.
    expect((await (await connect()).send('GET /e HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
    expect(socket?.bytesRead).toBeLessThan(1_000_000);
    expect(holder.received()).not.toContain('x'.repeat(10));
    accept();
    await vi.waitFor(() => expect(holder.received().endsWith(`\r\n\r\n${early}`)).toBe(true), 5_000);
  });

  test('a peer that does not read stops the other', async () => {
    let sent = 0;
    const holder = await rawHolder((socket) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        for (let room = true; room && sent < 50_000_000; sent += chunk.length) room = socket.write(chunk);
      };
      socket.write(SWITCH);
      socket.on('drain', more);
      more();
    });
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    await client.send(upgrade('/m')).untilText('101');
    client.socket.pause();
    let before = -1;
    await vi.waitFor(
      () => {
        const now = sent;
        const stands = now === before && now > 0;
        before = now;
        expect(stands).toBe(true);
      },
      { timeout: 5_000, interval: 300 },
    );
    expect(sent).toBeLessThan(30_000_000);
    client.socket.destroy();
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
  }, 10_000);

  test('what waits for a slow client stays what it was, whatever else is read meanwhile', async () => {
    const lines = Array.from({ length: 400_000 }, (_, n) => `line ${n}\n`).join('');
    const other = 'y'.repeat(5_000_000);
    const holder = await httpServer((_request, response) => void response.end(other));
    holder.server.on('upgrade', (_request, socket) => void socket.write(`${SWITCH}${lines}`));
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    await client.send(upgrade('/m')).untilText('101');
    client.socket.pause();
    expect((await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text === other).toBe(true);
    client.socket.resume();
    await client.untilText('line 399999\n');
    expect(client.pending.endsWith(`\r\n\r\n${lines}`)).toBe(true);
  });
});

describe('an upgrade that the holder answers otherwise', () => {
  test('its connection serves no other request: a server reads no requests from it any more', async () => {
    const holder = await httpServer((_request, response) => void response.end('next'));
    holder.server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno');
    });
    const { connect } = await withUpgrades(holder.origin, { headTimeout: 1_000 });
    expect((await (await connect()).send(upgrade('/m')).response()).status).toBe(401);
    const next = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(next.text).toBe('next');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(1));
  });

  test('103 passes, and 10 MB pass to a slow reader', async () => {
    const holder = await httpServer(NEVER);
    holder.server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
      socket.end(`HTTP/1.1 500 Internal Server Error\r\nContent-Length: 10000000\r\n\r\n${'y'.repeat(10_000_000)}`);
    });
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    client.send(upgrade('/m'));
    expect(await client.response()).toMatchObject({ status: 103, lines: ['Link: </a>'] });
    client.socket.pause();
    await vi.waitFor(() => expect(client.pending).not.toBe(''));
    client.socket.resume();
    const answer = await client.response();
    expect([answer.status, answer.body.length]).toEqual([500, 10_000_000]);
  });

  test('a thousand of them leave nothing behind', async () => {
    const holder = await httpServer(NEVER);
    holder.server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'));
    const { connect, front, proxy } = await withUpgrades(holder.origin, { maxInFlight: 50 });
    for (let batch = 0; batch < 20; batch++) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => connect()));
      const answers = await Promise.all(clients.map((client) => client.send(upgrade('/m')).response()));
      expect(answers.every(({ status }) => status === 401)).toBe(true);
      await vi.waitFor(() => expect([front.sockets.size, holder.sockets.size]).toEqual([0, 0]));
    }
    proxy.close();
  }, 20_000);
});

// Here alone, as it lasts as long as the proxy waits for such a client.
test('a client that was refused, sends on and never closes is cut off', async () => {
  const { connect, front, leasehold } = await withUpgrades('http://127.0.0.1:1');
  leasehold.lease.currentHolder = null;
  const stays = await connect();
  stays.socket.allowHalfOpen = true;
  stays.send(upgrade('/m') + 'x'.repeat(100_000));
  expect((await stays.response()).status).toBe(503);
  await vi.waitFor(() => expect(front.sockets.size).toBe(0), 6_000);
}, 10_000);
