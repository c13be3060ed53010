import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type ListeningServer, resolveAdvertisedAddress, validateAddress } from '../src/index.ts';
import { listen } from '../../../test/support/http/servers.ts';

function at(address: string, port = 3000, family = 'IPv4'): ListeningServer {
  return { address: (): AddressInfo => ({ address, port, family }) };
}

function network(address: string, internal = false): NetworkInterfaceInfo {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  return {
    address,
    internal,
    family,
    netmask: '',
    mac: '',
    cidr: null,
    ...(family === 'IPv6' ? { scopeid: 0 } : {}),
  } as NetworkInterfaceInfo;
}

const interfaces = {
  lo: [network('127.0.0.1', true), network('::1', true)],
  eth0: [network('fe80::7'), network('2001:db8::7'), network('169.254.3.3'), network('10.0.0.7')],
  eth1: [network('192.168.0.7')],
};

describe("'auto'", () => {
  test('is the address that a real server is bound to', async () => {
    const { server, port } = await listen(createServer());
    expect(resolveAdvertisedAddress('auto', server)).toBe(`http://127.0.0.1:${port}`);
  });

  test('is null before the server listens and without a server', () => {
    expect(resolveAdvertisedAddress('auto', createServer())).toBeNull();
    expect(resolveAdvertisedAddress('auto', null)).toBeNull();
  });

  test('is https for a TLS server, and where it is said', async () => {
    const { server, port } = await listen(createTlsServer(), 'https');
    expect(resolveAdvertisedAddress('auto', server)).toBe(`https://127.0.0.1:${port}`);
    expect(resolveAdvertisedAddress('auto', at('10.0.0.9'), { secure: true })).toBe('https://10.0.0.9:3000');
  });

  test.each(['0.0.0.0', '::'])('takes the first non-loopback IPv4 address for the wildcard %s', (wildcard) => {
    expect(resolveAdvertisedAddress('auto', at(wildcard), { interfaces })).toBe('http://10.0.0.7:3000');
  });

  test('takes IPv6 where there is nothing else, with brackets, and no link-local address', () => {
    const ipv6 = { lo: interfaces.lo, eth0: [network('fe80::7'), network('2001:db8::7')] };
    expect(resolveAdvertisedAddress('auto', at('::'), { interfaces: ipv6 })).toBe('http://[2001:db8::7]:3000');
  });

  test('is loopback on a machine without a network', () => {
    expect(resolveAdvertisedAddress('auto', at('::'), { interfaces: { lo: interfaces.lo } })).toBe('http://127.0.0.1:3000');
  });

  test('respects IPv6 brackets and leaves out a default port', () => {
    expect(resolveAdvertisedAddress('auto', at('::1', 3000, 'IPv6'))).toBe('http://[::1]:3000');
    expect(resolveAdvertisedAddress('auto', at('10.0.0.7', 80))).toBe('http://10.0.0.7');
  });

  test('is an error on a server that listens on a path', () => {
    expect(() => resolveAdvertisedAddress('auto', { address: () => '/run/app.sock' })).toThrow(
      expect.objectContaining({ code: 'LEASEHOLD_INVALID_ADDRESS', message: expect.stringContaining('/run/app.sock') }),
    );
  });
});

test('an explicit origin wins over the server', () => {
  expect(resolveAdvertisedAddress('https://app-03.internal:8443/', at('10.0.0.7'))).toBe('https://app-03.internal:8443');
});

test('a function is asked, and may have none yet', () => {
  expect(resolveAdvertisedAddress(() => 'http://10.1.1.1:80', null)).toBe('http://10.1.1.1');
  expect(resolveAdvertisedAddress(() => null, null)).toBeNull();
});

test.each([['http://app/base'], [() => 'app:3000'], [() => undefined as unknown as string], [7 as unknown as string]])(
  '%s is refused',
  (advertise) => {
    expect(() => resolveAdvertisedAddress(advertise, null)).toThrow(
      expect.objectContaining({ code: 'LEASEHOLD_INVALID_ADDRESS' }),
    );
  },
);

test('a function that answers with a promise is refused, and its rejection is nobody’s', async () => {
  const later = (() => Promise.reject(new Error('later'))) as unknown as () => string;
  expect(() => resolveAdvertisedAddress(later, null)).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_ADDRESS' }));
  // An unhandled rejection would fail the test run a turn later.
  await new Promise(setImmediate);
});

test('validateAddress names the option', () => {
  expect(validateAddress('http://app:1/', 'address')).toBe('http://app:1');
  expect(() => validateAddress('http://app?', 'instance.address')).toThrow('instance.address is "http://app?"');
});
