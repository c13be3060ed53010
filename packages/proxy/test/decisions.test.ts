import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLeaseholdError } from '@leasehold/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy, type RoleHolderProxy, roleHolderProxy } from '../src/index.ts';
import { type FakeLeasehold, fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { rejectedWith } from '../../../test/support/http/published.ts';
import { RawClient, type RawResponse } from '../../../test/support/http/raw-client.ts';
import { spyLogger } from '../../../test/support/http/spy-logger.ts';
import { rig, type RigOptions } from './support/rig.ts';
import { httpServer, unusedOrigin } from '../../../test/support/http/servers.ts';

const HOLDER = 'http://10.0.0.2:3000';
const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function fakeRequest(target: string, rawHeaders: string[] = ['Host', 'a']): IncomingMessage {
  return { url: target, method: 'GET', rawHeaders, readableDidRead: false, readableEncoding: null } as unknown as IncomingMessage;
}

function setUp(lease = heldBy(HOLDER), options: RigOptions = {}): { proxy: RoleHolderProxy; leasehold: FakeLeasehold } {
  const leasehold = fakeLeasehold(lease);
  return { leasehold, proxy: createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'], ...options }) };
}

describe('order of decisions', () => {
  test('outside the prefixes nothing is looked at', () => {
    const { proxy } = setUp();
    const untouchable = new Proxy({ url: '/other' } as IncomingMessage, {
      get(target, name): unknown {
        if (name === 'url' || name === 'originalUrl') return target[name as 'url'];
        throw new Error(`${String(name)} was read`);
      },
    });
    expect(proxy.decide(untouchable)).toEqual({ kind: 'pass' });
  });

  test('held here: local, even when it was forwarded before and the proxy is closed', () => {
    const { proxy, leasehold } = setUp();
    leasehold.lease.isHeld = true;
    proxy.close();
    expect(proxy.decide(fakeRequest('/m/x', ['Leasehold-Hop', 'a;b;1']))).toEqual({ kind: 'pass' });
  });

  test('not held: forwarded to the address on the row', () => {
    const { proxy } = setUp();
    expect(proxy.decide(fakeRequest('/m/x'))).toMatchObject({
      kind: 'forward',
      target: { holder: 'app-02-bbbb', address: HOLDER, host: '10.0.0.2', port: 3000, secure: false },
    });
  });

  test('the marker of a first hop comes before everything that is known of the holder', () => {
    const { proxy } = setUp({ currentHolder: null });
    expect(proxy.decide(fakeRequest('/m', ['host', 'a', 'leasehold-HOP', '']))).toEqual({ kind: 'refuse', reason: 'failover' });
  });

  test('the marker is seen though Connection nominates it', () => {
    const { proxy } = setUp();
    const request = fakeRequest('/m', ['Connection', 'leasehold-hop', 'Leasehold-Hop', 'a;b;1']);
    expect(proxy.decide(request)).toEqual({ kind: 'refuse', reason: 'failover' });
  });

  test.each([
    ['no-holder', {}],
    ['no-address', heldBy(null)],
    ['no-address', heldBy('10.0.0.2:3000')],
    ['no-address', heldBy('http://10.0.0.2:3000/base')],
    ['no-address', heldBy('javascript:alert(1)')],
    ['no-address', heldBy('')],
    ['self', heldBy(HOLDER, 'app-01-aaaa')],
    ['self', heldBy(null, 'app-01-aaaa')],
    ['self', heldBy('http://10.0.0.1:3000', 'app-01-former')],
    ['self', heldBy('HTTP://10.0.0.1:3000/', 'app-01-former')],
  ] as const)('%s: %j', (reason, lease) => {
    const { proxy, leasehold } = setUp(lease);
    leasehold.instance.address = 'http://10.0.0.1:3000';
    expect(proxy.decide(fakeRequest('/m'))).toEqual({ kind: 'refuse', reason });
  });

  test('an address that this instance learns later is compared too', () => {
    const { proxy, leasehold } = setUp();
    expect(proxy.decide(fakeRequest('/m')).kind).toBe('forward');
    leasehold.instance.address = HOLDER;
    expect(proxy.decide(fakeRequest('/m'))).toEqual({ kind: 'refuse', reason: 'self' });
  });

  test('a new holder, and a new address of the same holder, are taken at once', () => {
    const { proxy, leasehold } = setUp();
    Object.assign(leasehold.lease, heldBy('https://[2001:db8::3]', 'app-03-cccc'));
    expect(proxy.decide(fakeRequest('/m'))).toMatchObject({
      target: { holder: 'app-03-cccc', host: '2001:db8::3', port: 443, secure: true },
    });
    leasehold.lease.currentHolderAddress = 'http://10.0.0.3';
    expect(proxy.decide(fakeRequest('/m'))).toMatchObject({ target: { address: 'http://10.0.0.3', port: 80, secure: false } });
  });

  test('deciding twice gives the same objects', () => {
    const { proxy, leasehold } = setUp();
    expect(proxy.decide(fakeRequest('/m'))).toBe(proxy.decide(fakeRequest('/m/2')));
    leasehold.lease.currentHolder = null;
    expect(proxy.decide(fakeRequest('/m'))).toBe(proxy.decide(fakeRequest('/m/2')));
  });

  test.each([
    [['Transfer-Encoding', 'chunked', 'transfer-encoding', 'gzip']],
    [['Transfer-Encoding', 'gzip', 'Transfer-Encoding', 'chunked']],
    [['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked']],
    [['Transfer-Encoding', '']],
  ])('what %j says of its framing is not guessed at', (rawHeaders) => {
    const { proxy } = setUp();
    expect(proxy.decide(fakeRequest('/m', rawHeaders))).toEqual({ kind: 'refuse', reason: 'unsupported-transfer-encoding' });
  });

  test('a closed proxy forwards nothing', () => {
    const { proxy } = setUp();
    proxy.close();
    expect(proxy.decide(fakeRequest('/m'))).toEqual({ kind: 'refuse', reason: 'stopping' });
  });

  test("Express's mount path is not lost", () => {
    const { proxy } = setUp();
    const request = Object.assign(fakeRequest('/x'), { originalUrl: '/m/x' });
    expect(proxy.decide(request).kind).toBe('forward');
  });
});

describe('trustAddress', () => {
  test('true lets through, asked once for each address, with the canonical origin', () => {
    const trustAddress = vi.fn(() => true);
    const { proxy, leasehold } = setUp(heldBy('HTTP://APP-02:80/'), { trustAddress });
    proxy.decide(fakeRequest('/m'));
    expect(proxy.decide(fakeRequest('/m')).kind).toBe('forward');
    expect(trustAddress.mock.calls).toEqual([['http://app-02']]);
    leasehold.lease.currentHolderAddress = 'http://app-03';
    proxy.decide(fakeRequest('/m'));
    expect(trustAddress).toHaveBeenLastCalledWith('http://app-03');
  });

  test.each([
    ['false', () => false],
    ['undefined', () => undefined as unknown as boolean],
    ['a string', () => 'yes' as unknown as boolean],
    ['a promise of true', () => Promise.resolve(true) as unknown as boolean],
    ['a promise that rejects', () => Promise.reject(new Error('no')) as unknown as boolean],
    [
      'an exception',
      () => {
        throw new Error('broken');
      },
    ],
  ])('%s refuses', (_, trustAddress) => {
    const logger = spyLogger();
    const { proxy } = setUp(heldBy('http://169.254.169.254'), { trustAddress, logger });
    expect(proxy.decide(fakeRequest('/m'))).toEqual({ kind: 'refuse', reason: 'address-not-trusted' });
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });
});

describe('lines in the log', () => {
  test('an address that is none is said once', () => {
    const logger = spyLogger();
    const { proxy } = setUp(heldBy('ftp://app-02'), { logger });
    proxy.decide(fakeRequest('/m'));
    proxy.decide(fakeRequest('/m'));
    expect(logger.warn.mock.calls).toEqual([
      [expect.objectContaining({ holder: 'app-02-bbbb' }), expect.stringContaining('not an http(s) origin')],
    ]);
  });

  test.each(['http://127.0.0.1:3000', 'http://localhost:3000', 'https://[::1]'])(
    '%s of another host is warned about once',
    (address) => {
      const logger = spyLogger();
      const { proxy } = setUp(heldBy(address), { logger });
      proxy.decide(fakeRequest('/m'));
      proxy.decide(fakeRequest('/m'));
      expect(logger.warn.mock.calls).toEqual([[expect.objectContaining({ address }), expect.stringContaining('loopback')]]);
    },
  );

  test('loopback of the same host is fine', () => {
    const logger = spyLogger();
    setUp(heldBy('http://127.0.0.1:3001', 'app-01-bbbb'), { logger }).proxy.decide(fakeRequest('/m'));
    expect(logger.warn).not.toHaveBeenCalled();
  });
});

describe('a role that is not registered', () => {
  test('lets everything pass, and says so in one line', () => {
    const logger = spyLogger();
    const handler = roleHolderProxy(fakeLeasehold(heldBy(HOLDER)), { role: 'maintenence', prefixes: ['/m'], logger });
    const next = vi.fn();
    handler(fakeRequest('/m'), undefined as never, next);
    expect(next).toHaveBeenCalledOnce();
    expect(handler.proxy.decide(fakeRequest('/m'))).toEqual({ kind: 'pass' });
    expect(handler.proxy.handleUpgrade(fakeRequest('/m'), undefined as never, Buffer.alloc(0))).toBe(false);
    expect(logger.warn.mock.calls).toEqual([
      [{ role: 'maintenence' }, expect.stringContaining("role 'maintenence' is not registered")],
    ]);
  });

  test('warns by the process where there is no logger', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitWarning.mockRestore());
    createRoleHolderProxy(fakeLeasehold(), { role: 'maintenence', prefixes: ['/m'] });
    expect(emitWarning.mock.calls).toEqual([
      [
        expect.stringContaining("role 'maintenence' is not registered"),
        { type: 'LeaseholdWarning', code: 'LEASEHOLD_UNKNOWN_ROLE' },
      ],
    ]);
  });

  test('still has its options checked', () => {
    expect(() => createRoleHolderProxy(fakeLeasehold(), { role: 'other', prefixes: ['m'] })).toThrow('begins with');
  });
});

async function answerFor(
  options: RigOptions,
  change: (leasehold: FakeLeasehold) => void = () => {},
  request = 'GET /m',
): Promise<RawResponse> {
  const { connect, leasehold } = await rig(HOLDER, options);
  change(leasehold);
  const client = await connect();
  client.send(`${request} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return client.response({ head: request.startsWith('HEAD') });
}

describe('the answer of a refusal', () => {
  test('is a problem, with its reason for machines, and nothing internal', async () => {
    const answer = await answerFor({}, ({ lease }) => (lease.currentHolder = null));
    expect(answer).toMatchObject({ status: 503, statusText: 'Service Unavailable' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '1',
      'proxy-status': 'leasehold; error=destination_unavailable; details="no-holder"',
    });
    expect(JSON.parse(answer.text)).toEqual({
      title: 'Service Unavailable',
      status: 503,
      detail: expect.stringContaining('Nothing was executed'),
      reason: 'no-holder',
      role: 'maintenance',
    });
  });

  test('names holder, address and instance only when exposed', async () => {
    const origin = await unusedOrigin();
    const refused = await answerFor({}, ({ lease }) => (lease.currentHolderAddress = origin));
    expect(`${refused.lines.join()}${refused.text}`).not.toMatch(/app-0|127\.0\.0\.1/);
    const exposed = await answerFor({ expose: true }, ({ lease }) => (lease.currentHolderAddress = origin));
    expect(JSON.parse(exposed.text)).toMatchObject({ instance: 'app-01-aaaa', holder: 'app-02-bbbb', address: origin });
  });

  test('has no body for HEAD, with the length it would have', async () => {
    const answer = await answerFor({}, ({ lease }) => (lease.currentHolder = null), 'HEAD /m');
    expect(answer.status).toBe(503);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(50);
  });

  test.each([
    ['what is left of the lease of a holder that is out of reach', 12_300, '13'],
    ['the renew interval when nothing is known of the lease', 0, '5'],
    ['at least one second', 3, '1'],
  ])('Retry-After is %s', async (_, holderRemainingMs, expected) => {
    const origin = await unusedOrigin();
    const answer = await answerFor({}, ({ lease }) => Object.assign(lease, { currentHolderAddress: origin, holderRemainingMs }));
    expect(JSON.parse(answer.text).reason).toBe('unreachable');
    expect(answer.headers['retry-after']).toBe(expected);
  });

  test.each([
    [250, '1'],
    [1_001, '2'],
    [60_000, '60'],
  ])('Retry-After follows a renew interval of %i ms', async (renewIntervalMs, expected) => {
    const answer = await answerFor({}, ({ lease }) => Object.assign(lease, { currentHolderAddress: null, renewIntervalMs }));
    expect(JSON.parse(answer.text).reason).toBe('no-address');
    expect(answer.headers['retry-after']).toBe(expected);
  });

  test('Retry-After is a second while the role changes hands, whatever the lease', async () => {
    const change = (view: object): void =>
      void Object.assign(view, { currentHolder: null, holderRemainingMs: 12_300, renewIntervalMs: 60_000 });
    const answer = await answerFor({}, ({ lease }) => change(lease));
    expect([JSON.parse(answer.text).reason, answer.headers['retry-after']]).toEqual(['no-holder', '1']);
  });

  test('keeps the fields that were set before, so that a browser may read it', async () => {
    const before: RigOptions['before'] = (_, response) => {
      response.setHeader('Access-Control-Allow-Origin', 'https://example.com');
      response.setHeader('Content-Type', 'text/html');
    };
    const answer = await answerFor({ before }, ({ lease }) => (lease.currentHolder = null));
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://example.com',
      'content-type': 'application/problem+json',
    });
  });

  test('is published with its reason', async () => {
    const messages = rejectedWith('PUT');
    await answerFor({}, ({ lease }) => (lease.currentHolder = null), 'PUT /m');
    expect(messages).toEqual([
      { instance: 'app-01-aaaa', role: 'maintenance', holder: null, method: 'PUT', reason: 'no-holder', statusCode: 503 },
    ]);
  });
});

describe('the limit in flight', () => {
  test('refuses at once, queues nothing, and is given back', async () => {
    const waiting: (() => void)[] = [];
    const holder = await httpServer((_, response) => void waiting.push(() => response.end('done')));
    const { connect } = await rig(holder.origin, { maxInFlight: 2 });
    const [one, two, three] = await Promise.all([connect(), connect(), connect()]);
    one.send(GET);
    two.send(GET);
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    const refused = await three.send(GET).response();
    expect(JSON.parse(refused.text)).toMatchObject({ status: 503, reason: 'overloaded' });
    expect(holder.accepted.count).toBe(2);
    for (const finish of waiting.splice(0)) finish();
    expect((await one.response()).text).toBe('done');
    three.send(GET);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    waiting[0]?.();
    expect((await three.response()).text).toBe('done');
  });

  test('is given back by a client that leaves', async () => {
    const holder = await httpServer(() => {});
    const { connect, front } = await rig(holder.origin, { maxInFlight: 1 });
    for (let round = 1; round <= 3; round++) {
      const client = await connect();
      client.send(GET);
      await vi.waitFor(() => expect(holder.accepted.count).toBe(round));
      client.socket.destroy();
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
    }
  });

  test.each([
    ['a holder that breaks', (response: ServerResponse) => void response.destroy(), 'outcome-unknown'],
    ['an answer that is whole', (response: ServerResponse) => void response.end('done'), 'done'],
  ])('is given back by %s', async (_, answer, expected) => {
    const holder = await httpServer((_request, response) => answer(response));
    const { connect } = await rig(holder.origin, { maxInFlight: 1 });
    const client = await connect();
    for (let round = 0; round < 3; round++) {
      expect((await client.send(GET).response()).text).toContain(expected);
    }
  });
});

describe('a body that a parser has read', () => {
  const post = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';

  test.each([
    ['read', 'data'],
    ['decoded', 'encoding'],
  ])('is answered 500 at once when it was %s, and the log says how to mount', async (_, how) => {
    const logger = spyLogger();
    const holder = await httpServer((_request, response) => void response.end());
    const leasehold = fakeLeasehold(heldBy(holder.origin));
    const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'], logger });
    const front = await httpServer((request, response) => {
      if (how === 'encoding') request.setEncoding('utf8');
      else request.resume();
      const go = (): void => proxy.handle(request, response, () => response.end());
      if (how === 'encoding') go();
      else request.on('end', go);
    });
    const client = await RawClient.connect(front.port);
    for (let round = 0; round < 2; round++) {
      const answer = await client.send(post).response();
      expect(answer.status).toBe(500);
      expect(answer.headers['retry-after']).toBeUndefined();
      expect(JSON.parse(answer.text)).toMatchObject({
        reason: 'body-already-read',
        detail: expect.stringContaining('before every body parser'),
      });
    }
    expect(holder.accepted.count).toBe(0);
    const lines = logger.error.mock.calls as [{ error: unknown }, string][];
    expect(lines).toHaveLength(1);
    expect(isLeaseholdError(lines[0]?.[0].error, 'LEASEHOLD_BODY_ALREADY_READ')).toBe(true);
    expect(lines[0]?.[1]).toContain('express.json()');
  });

  test.each([
    ['GET without a body', 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a length of 0', 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
    ['an empty chunked body', 'POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('is no matter for %s', async (_, text) => {
    const holder = await httpServer((request, response) => void request.resume().on('end', () => response.end('fine')));
    const leasehold = fakeLeasehold(heldBy(holder.origin));
    const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
    const front = await httpServer((request, response) => {
      request.resume().on('end', () => proxy.handle(request, response, () => response.end()));
    });
    const client = await RawClient.connect(front.port);
    expect((await client.send(text).response()).text).toBe('fine');
  });
});
