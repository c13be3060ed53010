import type { IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy, type RoleHolderProxy, roleHolderProxy } from '../src/index.ts';
import { type FakeLeasehold, fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { spyLogger } from '../../../test/support/http/spy-logger.ts';
import { type RigOptions } from './support/rig.ts';

const HOLDER = 'http://10.0.0.2:3000';

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
