import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { forwardedTo, rejectedWith } from './support/published.ts';
import type { RawClient } from './support/raw-client.ts';
import type { RigOptions } from './support/rig.ts';
import { httpServer, rawHolder, unusedOrigin } from './support/servers.ts';
import { echo, SWITCH, switching, upgrade, withUpgrades } from './support/upgrades.ts';

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
  test('becomes a tunnel: bytes pass both ways as they come', async () => {
    const holder = await switching(echo);
    const { connect, proxy } = await withUpgrades(holder.origin);
    const messages = forwardedTo(holder);
    const client = await connect();
    const answer = await client.send(upgrade('/m/socket?a=1')).response();
    expect(answer).toMatchObject({ status: 101, statusText: 'Switching Protocols' });
    expect(answer.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': 'yes' });
    client.send('one');
    await client.untilText('echo:one');
    client.send(Buffer.from([0, 255, 13, 10]));
    await client.untilText('echo:\0\xff\r\n');
    client.socket.end();
    await client.untilClosed();
    await vi.waitFor(() => expect(messages).toMatchObject([{ outcome: 'completed', statusCode: 101, method: 'GET' }]));
    proxy.close();
  });

  test('arrives with the marker, via, the fields of the client, and none that Connection names', async () => {
    const holder = await switching(NEVER);
    const { connect } = await withUpgrades(holder.origin);
    const fields = 'Origin: http://x\r\nX-Own: 1\r\nx-latin: caf\xe9\r\nX-Forwarded-For: 9.9.9.9\r\nKeep-Alive: 5\r\n';
    const request = upgrade('/m', { connection: 'keep-alive, X-Own, Leasehold-Hop, Upgrade' }).replace(
      '\r\n\r\n',
      `\r\n${fields}\r\n`,
    );
    const client = await connect();
    await client.send(request).response();
    const lines = holder.received().split('\r\n');
    expect(lines).toEqual([
      'GET /m HTTP/1.1',
      'Leasehold-Hop: maintenance;app-01-aaaa;0',
      'Host: a',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      'Origin: http://x',
      'x-latin: caf\xe9',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: a',
      'Via: 1.1 leasehold',
      '',
      '',
    ]);
  });

  test('the head of its answer loses what was meant for one hop', async () => {
    const fields =
      'Connection: Upgrade, X-Hop\r\nUpgrade: websocket\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nset-cookie: a\r\nset-cookie: caf\xe9\r\n';
    const holder = await rawHolder((socket) => socket.write(`HTTP/1.1 101 Sure\r\n${fields}\r\n`, 'latin1'));
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    const answer = await client.send(upgrade('/m')).response();
    expect(answer.statusText).toBe('Sure');
    expect(answer.lines).toEqual(['set-cookie: a', 'set-cookie: caf\xe9', 'Connection: Upgrade', 'Upgrade: websocket']);
  });

  test('bytes that come with either head are in their place', async () => {
    const holder = await rawHolder((socket) => socket.write(`${SWITCH}hello`));
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    client.send(`${upgrade('/m')}early`);
    expect((await client.response()).status).toBe(101);
    await client.untilText('hello');
    client.send('later');
    await vi.waitFor(() => expect(holder.received()).toContain('\r\n\r\nearlylater'));
  });

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
});

describe('a tunnel ends on both sides', () => {
  async function tunnel(options?: RigOptions) {
    let end: Socket | undefined;
    const holder = await rawHolder((socket) => {
      end = socket;
      socket.write(SWITCH);
    });
    const built = await withUpgrades(holder.origin, options);
    const messages = forwardedTo(holder);
    const client = await built.connect();
    await client.send(upgrade('/m')).response();
    return { ...built, holder, messages, client, end: end as unknown as Socket };
  }

  test('when the holder dies', async () => {
    const { client, end, front, messages } = await tunnel();
    end.resetAndDestroy();
    await client.untilClosed();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    expect(messages).toMatchObject([{ outcome: 'truncated', statusCode: 101 }]);
  });

  test('when the holder closes: its last bytes are read first', async () => {
    const { client, end, front, messages } = await tunnel();
    end.end('z'.repeat(2_000_000));
    await client.untilClosed();
    expect(client.pending).toHaveLength(2_000_000);
    client.socket.end();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    expect(messages).toMatchObject([{ outcome: 'completed' }]);
  });

  test.each([
    ['resets', (client: RawClient) => client.socket.resetAndDestroy()],
    ['is destroyed', (client: RawClient) => client.socket.destroy()],
  ])('at once when the client %s', async (_, leave) => {
    const { client, holder, front, messages } = await tunnel();
    leave(client);
    await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]), 500);
    await vi.waitFor(() => expect(messages).toHaveLength(1));
  });

  test('when the role moves and streams are to be closed', async () => {
    const { client, leasehold, holder, messages } = await tunnel({ onRoleChange: 'close', lease: { renewIntervalMs: 100 } });
    leasehold.lease.currentHolder = 'app-03-cccc';
    await client.untilClosed();
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    expect(messages).toMatchObject([{ outcome: 'role-changed' }]);
  });

  test('and not when the role moves and they are to be kept', async () => {
    const { client, leasehold, end } = await tunnel({ headTimeout: 100, lease: { renewIntervalMs: 20 } });
    leasehold.lease.currentHolder = 'app-03-cccc';
    // Longer than every limit of the proxy, which all are over by now.
    await new Promise((resolve) => setTimeout(resolve, 300));
    end.write('still here');
    await client.untilText('still here');
  });
});

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
    const { connect, front } = await withUpgrades(holder.origin);
    const messages = forwardedTo(holder);
    const client = await connect();
    const answer = await client.send(upgrade('/m')).response();
    expect(answer).toMatchObject({ status, text });
    expect(answer.headers.connection).toBe('close');
    expect(answer.headers.upgrade).toBeUndefined();
    await client.untilClosed();
    expect(client.pending).toBe('');
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
    expect(messages).toMatchObject([{ outcome: 'completed', statusCode: status }]);
  });

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

  test('HEAD has no body', async () => {
    const holder = await rawHolder((socket) => socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n'));
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    const answer = await client.send(upgrade('/m', { method: 'HEAD' })).response({ head: true });
    expect(answer).toMatchObject({ status: 404, headers: { 'content-length': '5' } });
    await client.untilClosed();
    expect(client.pending).toBe('');
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

  test('a break in its middle is a cut', async () => {
    const holder = await rawHolder((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    const { connect } = await withUpgrades(holder.origin);
    const messages = forwardedTo(holder);
    const client = await connect();
    await client.send(upgrade('/m')).untilText('half');
    await client.untilClosed();
    expect(messages).toMatchObject([{ outcome: 'truncated', statusCode: 200 }]);
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

describe('an upgrade that is not forwarded', () => {
  test.each([
    ['no-holder', '1', { currentHolder: null }, {}],
    ['self', '5', { currentHolder: 'app-01-aaaa' }, {}],
    ['address-not-trusted', '5', {}, { trustAddress: () => false }],
  ])('is refused with a framed 503 that says why: %s', async (reason, seconds, change, options) => {
    const { connect, leasehold, front } = await withUpgrades('http://127.0.0.1:1', options);
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
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
    expect(messages).toContainEqual(expect.objectContaining({ reason }));
  });

  test('a second hop is refused as such', async () => {
    const { connect } = await withUpgrades('http://127.0.0.1:1');
    const client = await connect();
    const answer = await client.send(upgrade('/m').replace('Host: a', 'Host: a\r\nLeasehold-Hop: a;b;0')).response();
    expect(JSON.parse(answer.text).reason).toBe('failover');
  });

  test.each([['Content-Length: 2'], ['Transfer-Encoding: chunked']])('with a body (%s): 501', async (field) => {
    const holder = await switching(NEVER);
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    client.send(upgrade('/m', { method: 'POST' }).replace('Host: a', `Host: a\r\n${field}`));
    const answer = await client.response();
    expect([answer.status, JSON.parse(answer.text).reason]).toEqual([501, 'upgrade-with-body']);
    expect(holder.accepted.count).toBe(0);
  });

  test('tunnels count: one more than maxInFlight is refused, and the place is given back', async () => {
    const holder = await switching(echo);
    const { connect } = await withUpgrades(holder.origin, { maxInFlight: 1 });
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
    const { connect } = await withUpgrades(await unusedOrigin());
    const head = await connect();
    expect((await head.send(upgrade('/m', { method: 'HEAD' })).response({ head: true })).status).toBe(503);
    await head.untilClosed();
    expect(head.pending).toBe('');
  });

  test('a client that sent more and closes is gone at once', async () => {
    const { connect, front, leasehold } = await withUpgrades('http://127.0.0.1:1');
    leasehold.lease.currentHolder = null;
    const client = await connect();
    client.send(upgrade('/m') + 'x'.repeat(100_000));
    expect((await client.response()).status).toBe(503);
    client.socket.end();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
  });

  test('a client that resets, sends on, or never closes harms nobody', async () => {
    const { connect, front, leasehold } = await withUpgrades('http://127.0.0.1:1');
    leasehold.lease.currentHolder = null;
    const resets = await connect();
    resets.send(upgrade('/m'));
    resets.socket.resetAndDestroy();
    const stays = await connect();
    stays.socket.allowHalfOpen = true;
    stays.send(upgrade('/m') + 'x'.repeat(100_000));
    expect((await stays.response()).status).toBe(503);
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 6_000);
  }, 10_000);
});

describe('an upgrade whose holder fails', () => {
  async function reasonOf(origin: string, options?: RigOptions): Promise<[number, string]> {
    const { connect, front } = await withUpgrades(origin, options);
    const client = await connect();
    const answer = await client.send(upgrade('/m')).response();
    await client.untilClosed();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
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
    const { connect, front } = await withUpgrades(holder.origin);
    const messages = forwardedTo(holder);
    const client = await connect();
    client.send(upgrade('/m'));
    await vi.waitFor(() => expect(holder.received()).toContain('Via'));
    leave(client);
    await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]), 500);
    expect(messages).toMatchObject([{ outcome: 'client-left', statusCode: null }]);
  });
});

describe('what may not become a tunnel is a request like any other', () => {
  test.each([
    ['h2c', upgrade('/m', { connection: 'Upgrade, HTTP2-Settings', protocol: 'h2c' })],
    ['HTTP/1.0', upgrade('/m').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('%s', async (_, request) => {
    const holder = await rawHolder((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    expect(await client.send(request.replace('Host: a', 'Host: a\r\nHTTP2-Settings: AA')).response()).toMatchObject({
      status: 200,
      text: 'ok',
    });
    expect(holder.received()).not.toMatch(/upgrade|http2-settings/i);
  });

  test('h2c is taken out of a list', async () => {
    const holder = await switching(NEVER);
    const { connect } = await withUpgrades(holder.origin);
    const client = await connect();
    expect((await client.send(upgrade('/m', { protocol: 'h2c, websocket' })).response()).status).toBe(101);
    expect(holder.received()).toContain('Upgrade: websocket\r\n');
  });
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
  const { connect } = await withUpgrades(holder.origin);
  const client = await connect();
  const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
  expect(JSON.parse(answer.text)).toMatchObject({ status: 503, reason: 'outcome-unknown' });
});
