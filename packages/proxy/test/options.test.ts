import { expect, test } from 'vitest';
import { createRoleHolderProxy, type RoleHolderProxyOptions } from '../src/index.ts';
import { fakeLeasehold } from '../../../test/support/http/fake-leasehold.ts';

const good: RoleHolderProxyOptions = { role: 'maintenance', prefixes: ['/m'] };

function create(options: unknown): void {
  createRoleHolderProxy(fakeLeasehold(), options as RoleHolderProxyOptions).close();
}

test.each([
  [undefined, 'LEASEHOLD_INVALID_OPTION', 'options is undefined'],
  [null, 'LEASEHOLD_INVALID_OPTION', 'options is null'],
  [
    { ...good, trustAdress: () => false },
    'LEASEHOLD_INVALID_OPTION',
    '"trustAdress" is no option of roleHolderProxy; there are role,',
  ],
  [{ role: 'maintenance', prefix: '/m' }, 'LEASEHOLD_INVALID_OPTION', '"prefix" is no option of roleHolderProxy'],
  [{ ...good, role: undefined }, 'LEASEHOLD_INVALID_OPTION', 'role is undefined'],
  [{ ...good, role: '' }, 'LEASEHOLD_INVALID_OPTION', 'role is ""'],
  [{ ...good, prefixes: undefined }, 'LEASEHOLD_INVALID_PREFIX', 'prefixes is undefined'],
  [{ ...good, connectTimeout: 0 }, 'LEASEHOLD_INVALID_DURATION', 'connectTimeout is 0'],
  [{ ...good, connectTimeout: '2 s' }, 'LEASEHOLD_INVALID_DURATION', 'connectTimeout is "2 s"'],
  [{ ...good, headTimeout: -1 }, 'LEASEHOLD_INVALID_DURATION', 'headTimeout is -1'],
  [{ ...good, headTimeout: '3d' }, 'LEASEHOLD_INVALID_DURATION', 'headTimeout is "3d"'],
  [{ ...good, idleTimeout: Number.NaN }, 'LEASEHOLD_INVALID_DURATION', 'idleTimeout is NaN'],
  [{ ...good, mode: 'proxy' }, 'LEASEHOLD_INVALID_OPTION', 'mode is "proxy"'],
  [{ ...good, instanceHeader: '' }, 'LEASEHOLD_INVALID_OPTION', 'instanceHeader is ""'],
  [{ ...good, instanceHeader: 'X-A: b' }, 'LEASEHOLD_INVALID_OPTION', 'instanceHeader is "X-A: b"'],
  [{ ...good, instanceHeader: 'Content-Length' }, 'LEASEHOLD_INVALID_OPTION', 'instanceHeader is "Content-Length"'],
  [{ ...good, maxInFlight: 0 }, 'LEASEHOLD_INVALID_OPTION', 'maxInFlight is 0'],
  [{ ...good, maxInFlight: 1.5 }, 'LEASEHOLD_INVALID_OPTION', 'maxInFlight is 1.5'],
  [{ ...good, maxInFlight: Number.POSITIVE_INFINITY }, 'LEASEHOLD_INVALID_OPTION', 'maxInFlight is Infinity'],
  [{ ...good, maxHeaderSize: '64k' }, 'LEASEHOLD_INVALID_OPTION', 'maxHeaderSize is "64k"'],
  [{ ...good, trustForwarded: 'yes' }, 'LEASEHOLD_INVALID_OPTION', 'trustForwarded is "yes"'],
  [{ ...good, trustAddress: ['10.0.0.0/8'] }, 'LEASEHOLD_INVALID_OPTION', 'trustAddress is an array of 1'],
  [{ ...good, expose: 1 }, 'LEASEHOLD_INVALID_OPTION', 'expose is 1'],
  [{ ...good, onRoleChange: 'drop' }, 'LEASEHOLD_INVALID_OPTION', 'onRoleChange is "drop"'],
  [{ ...good, pseudonym: 'a b' }, 'LEASEHOLD_INVALID_OPTION', 'pseudonym is "a b"'],
  [{ ...good, pseudonym: 'x\r\nSet-Cookie: a' }, 'LEASEHOLD_INVALID_OPTION', 'pseudonym is'],
  [{ ...good, tls: { rejectUnauthorized: false } }, 'LEASEHOLD_INVALID_OPTION', 'verification is always on'],
  [
    { ...good, tls: { checkServerIdentity: () => undefined } },
    'LEASEHOLD_INVALID_OPTION',
    'tls.checkServerIdentity is not an option',
  ],
  [{ ...good, tls: { servername: '' } }, 'LEASEHOLD_INVALID_OPTION', 'tls.servername is ""'],
  [{ ...good, tls: { servername: '10.0.0.2' } }, 'LEASEHOLD_INVALID_OPTION', 'tls.servername is "10.0.0.2"'],
  [{ ...good, tls: { cert: 'no PEM' } }, 'LEASEHOLD_INVALID_OPTION', 'certificate or key that cannot be used'],
  [{ ...good, tls: true }, 'LEASEHOLD_INVALID_OPTION', 'tls is true'],
])('%j is refused', (options, code, message) => {
  expect(() => create(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});

test('good options are taken', () => {
  expect(() =>
    create({
      ...good,
      connectTimeout: '500ms',
      headTimeout: 60_000,
      idleTimeout: '2s',
      maxInFlight: 1,
      maxHeaderSize: 65_536,
      trustForwarded: () => true,
      trustAddress: () => true,
      expose: true,
      onRoleChange: 'close',
      pseudonym: 'app-03',
      mode: 'redirect',
      instanceHeader: 'X-Served-By',
      tls: { servername: 'app.internal' },
    }),
  ).not.toThrow();
});

test('what get() throws for another reason is thrown', () => {
  const leasehold = {
    ...fakeLeasehold(),
    get: () => {
      throw new Error('broken');
    },
  };
  expect(() => createRoleHolderProxy(leasehold, good)).toThrow('broken');
});

test('options where the Leasehold belongs', () => {
  const misplaced = createRoleHolderProxy as unknown as (options: unknown) => void;
  const message = 'leasehold is an object; give what createLeasehold() returned, before the rest.';
  expect(() => misplaced(good)).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', message }));
});
