import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rig } from './support/rig.ts';
import { httpServer } from './support/servers.ts';
import { switching, upgrade, withUpgrades } from './support/upgrades.ts';

const HOLDER = 'http://app-02.internal:3000';

describe('mode redirect', () => {
  test.each([
    ['/m', '/m'],
    ['/m/x?a=1&b=/m', '/m/x?a=1&b=/m'],
    ['/M/%41/../x', '/M/%41/../x'],
    ['//m', '//m'],
    ['http://app-01/m?a=1', '/m?a=1'],
    ['HTTP://evil.example:80/m//x', '/m//x'],
  ])('%s goes to the same path of the holder', async (target, path) => {
    const { connect, local } = await rig(HOLDER, { mode: 'redirect' });
    const client = await connect();
    const answer = await client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).response();
    expect(answer.status).toBe(307);
    expect(answer.headers).toMatchObject({ location: `${HOLDER}${path}`, 'content-length': '0', 'cache-control': 'no-store' });
    expect(local).toEqual([]);
  });

  test('whatever body comes, the connection serves the next request', async () => {
    const { connect, leasehold } = await rig(HOLDER, { mode: 'redirect' });
    const client = await connect();
    client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n').send('b'.repeat(200_000));
    expect((await client.response()).status).toBe(307);
    client.send('POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
    expect((await client.response()).status).toBe(307);
    leasehold.lease.isHeld = true;
    expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
  });

  test('says so to who listens, and nobody calls the holder', async () => {
    const holder = await httpServer(() => {});
    const messages: unknown[] = [];
    const listener = (message: unknown): void => void messages.push(message);
    subscribe('leasehold:proxy.redirected', listener);
    onTestFinished(() => void unsubscribe('leasehold:proxy.redirected', listener));
    const { connect } = await rig(holder.origin, { mode: 'redirect' });
    await (await connect()).send('DELETE /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(messages).toEqual([
      { instance: 'app-01-aaaa', role: 'maintenance', holder: 'app-02-bbbb', address: holder.origin, method: 'DELETE' },
    ]);
    expect(holder.accepted.count).toBe(0);
  });

  test('keeps the fields that were set before', async () => {
    const before = vi.fn<(request: unknown, response: { setHeader(name: string, value: string): void }) => void>();
    before.mockImplementation((_, response) => {
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Content-Type', 'text/html');
    });
    const { connect } = await rig(HOLDER, { mode: 'redirect', before });
    const { headers } = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect([headers['access-control-allow-origin'], headers['content-type']]).toEqual(['*', undefined]);
  });

  test.each([
    ['failover', 'Leasehold-Hop: a;b;0\r\n', {}],
    ['no-holder', '', { currentHolder: null }],
    ['no-address', '', { currentHolderAddress: null }],
    ['self', '', { currentHolder: 'app-01-aaaa' }],
  ])('refuses as ever: %s', async (reason, field, change) => {
    const { connect, leasehold } = await rig(HOLDER, { mode: 'redirect' });
    Object.assign(leasehold.lease, change);
    const answer = await (await connect()).send(`GET /m HTTP/1.1\r\nHost: a\r\n${field}\r\n`).response();
    expect([answer.status, JSON.parse(answer.text).reason]).toEqual([503, reason]);
  });

  test('an upgrade gets the same, framed, and its connection ends', async () => {
    const { connect, front } = await withUpgrades(HOLDER, { mode: 'redirect' });
    const client = await connect();
    const answer = await client.send(upgrade('/m/live')).response();
    expect(answer).toMatchObject({ status: 307, headers: { location: `${HOLDER}/m/live`, connection: 'close' } });
    await client.untilClosed();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0), 1_500);
  });
});

describe('instanceHeader', () => {
  const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

  async function served(options: object, request = GET) {
    const holder = await httpServer((_request, response) => {
      response.writeHead(200, ['x-served-BY', 'forged', 'x-served-by', 'twice', 'Content-Length', '2']).end('ok');
    });
    const built = await rig(holder.origin, { instanceHeader: 'X-Served-By', ...options });
    const client = await built.connect();
    return { ...built, client, answer: await client.send(request).response() };
  }

  test('names the holder for what it answered, once', async () => {
    const { answer } = await served({});
    expect(answer.lines.filter((line) => /x-served-by/i.test(line))).toEqual(['X-Served-By: app-02-bbbb']);
  });

  test('also beside fields that were set before', async () => {
    const before = (_: unknown, response: { setHeader(name: string, value: string): void }): void =>
      response.setHeader('Vary', 'Origin');
    const { answer } = await served({ before });
    expect(answer.lines.filter((line) => /x-served-by/i.test(line))).toEqual(['X-Served-By: app-02-bbbb']);
  });

  test('names this instance for what is its own: refusals, redirects, and what it holds', async () => {
    const { client, leasehold, answer } = await served({ mode: 'redirect' });
    expect(answer).toMatchObject({ status: 307, headers: { 'x-served-by': 'app-01-aaaa' } });
    leasehold.lease.currentHolder = null;
    expect(await client.send(GET).response()).toMatchObject({ status: 503, headers: { 'x-served-by': 'app-01-aaaa' } });
    leasehold.lease.isHeld = true;
    expect(await client.send(GET).response()).toMatchObject({ text: 'local', headers: { 'x-served-by': 'app-01-aaaa' } });
  });

  test('is not for what is outside the prefixes', async () => {
    const { answer } = await served({}, 'GET /e HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer).toMatchObject({ text: 'local', headers: { 'content-length': '5' } });
    expect(answer.headers).not.toHaveProperty('x-served-by');
  });

  test('stands on a 101', async () => {
    const holder = await switching(() => {});
    const { connect } = await withUpgrades(holder.origin, { instanceHeader: 'X-Served-By' });
    const answer = await (await connect()).send(upgrade('/m')).response();
    expect(answer).toMatchObject({ status: 101, headers: { 'x-served-by': 'app-02-bbbb' } });
  });

  test('without it nobody is named', async () => {
    const { connect } = await rig(null);
    const { lines } = await (await connect()).send(GET).response();
    expect(lines.join()).not.toContain('app-0');
  });
});

describe('Leasehold-No-Forward', () => {
  const request = 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: leasehold-no-forward\r\nleasehold-No-Forward: 0\r\n\r\n';

  test('is refused where the role is not held, whoever holds it', async () => {
    const holder = await httpServer(() => {});
    const { connect, leasehold } = await rig(holder.origin);
    const client = await connect();
    const answer = await client.send(request).response();
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'forwarding-forbidden' });
    expect(holder.accepted.count).toBe(0);
    leasehold.lease.isHeld = true;
    expect((await client.send(request).response()).text).toBe('local');
  });

  test('a redirect is no forwarding', async () => {
    const { connect } = await rig(HOLDER, { mode: 'redirect' });
    expect((await (await connect()).send(request).response()).status).toBe(307);
  });

  test('holds for upgrades', async () => {
    const { connect } = await withUpgrades(HOLDER);
    const client = await connect();
    const answer = await client.send(upgrade('/m').replace('Host: a', 'Host: a\r\nLeasehold-No-Forward: 1')).response();
    expect(JSON.parse(answer.text).reason).toBe('forwarding-forbidden');
  });
});
