import {
  createLeasehold,
  type LeaseholdErrorCode,
  type LeaseholdOptions,
  LeaseholdError,
  resolveDuration,
  type RoleOptions,
  showValue,
} from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, vi } from 'vitest';
import { heldLease, scriptedLease } from './support/scripted-lease.ts';

/** The error that `call` throws, which has to be a LeaseholdError of this code. */
function caught(code: LeaseholdErrorCode, call: () => unknown): LeaseholdError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(LeaseholdError);
    expect((error as LeaseholdError).code).toBe(code);
    return error as LeaseholdError;
  }
  return expect.unreachable(`${code} expected`);
}

describe('durations', () => {
  it.each([
    '15 seconds',
    '15',
    '',
    's',
    '-1s',
    '1e3ms',
    ' 1s',
    -1,
    0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    {},
    10n,
    '400d',
  ])('refuses %o, naming the option, the value and the fix', (value) => {
    const error = caught('LEASEHOLD_INVALID_DURATION', () => resolveDuration('renewInterval', value));
    expect(error.option).toBe('renewInterval');
    expect(error.message).toContain('renewInterval');
    expect(error.message).toContain(showValue(value));
    expect(error.message).toContain("'15s'");
  });

  it.each([
    [250, 250],
    ['250ms', 250],
    ['15s', 15_000],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ])('reads %o as %d ms', (value, ms) => {
    expect(resolveDuration('x', value)).toBe(ms);
  });
});

describe('timing', () => {
  it.each<[string, LeaseholdOptions]>([
    ['equal', { leaseDuration: '7s', renewInterval: '5s', safetyMargin: '2s' }],
    ['less', { leaseDuration: '5s', renewInterval: '5s', safetyMargin: '2s' }],
  ])('refuses a lease that leaves no room for a renewal: %s', (_, timing) => {
    const error = caught('LEASEHOLD_INVALID_TIMING', () => createLeasehold({ store: memoryStore(), ...timing }));
    expect(error.message).toMatch(
      /leaseDuration is \d000 ms.*renewInterval \(5000 ms\).*safetyMargin \(2000 ms\).*over 7000 ms/s,
    );
  });

  it('checks each role, over the defaults of all', () => {
    const leasehold = createLeasehold({ store: memoryStore(), leaseDuration: '30s', renewInterval: '10s', safetyMargin: '3s' });
    caught('LEASEHOLD_INVALID_TIMING', () => leasehold.role('r', { leaseDuration: '12s' }));
    expect(leasehold.leases.size).toBe(0);
    expect(leasehold.role('r', { leaseDuration: '14s' })).toMatchObject({ leaseDurationMs: 14_000, renewIntervalMs: 10_000 });
  });

  it('derives interval and margin from the lease duration: 15 s, 5 s, 2 s', async () => {
    const { lease } = await heldLease();
    expect([lease.leaseDurationMs, lease.renewIntervalMs, lease.remainingMs]).toEqual([15_000, 5_000, 13_000]);
  });

  it.each([499, '2h'])('refuses a lease duration of %o', (leaseDuration) => {
    caught('LEASEHOLD_INVALID_DURATION', () => createLeasehold({ store: memoryStore(), leaseDuration: leaseDuration as number }));
  });
});

describe('roles', () => {
  it.each([
    ['empty', ''],
    ['129 characters', 'a'.repeat(129)],
    ['129 characters beyond the BMP', '🦉'.repeat(129)],
    ['a line feed', 'a\nb'],
    ['U+0000', 'a\u0000'],
    ['DEL', 'a\u007f'],
    ['a C1 control', 'a\u0085'],
    ['a lone surrogate', 'a\ud800'],
    ['a number', 7],
    ['nothing', undefined],
  ])('refuses a name that is or has %s, and registers nothing', (_, name) => {
    const { leasehold } = scriptedLease();
    const error = caught('LEASEHOLD_INVALID_ROLE', () => leasehold.role(name as string));
    expect(error.message).toContain(showValue(name));
    expect(error.message).toContain('1 to 128 characters');
    expect([...leasehold.leases].map(({ role }) => role)).toEqual(['r']);
  });

  it.each(['a', 'a'.repeat(128), '🦉'.repeat(128), 'it\'s "quoted"', 'devices:partition-7', 'NULL', '{a,b}', '__proto__'])(
    'takes %o',
    (name) => {
      const { leasehold } = scriptedLease();
      expect(leasehold.role(name).role).toBe(name);
      expect(leasehold.get(name).role).toBe(name);
    },
  );

  it('refuses a second role of the same name, and keeps the first', () => {
    const { leasehold, lease } = scriptedLease();
    const error = caught('LEASEHOLD_DUPLICATE_ROLE', () => leasehold.role('r', { leaseDuration: '1m' }));
    expect(error.message).toContain('get("r")');
    expect(leasehold.get('r')).toBe(lease);
    expect(leasehold.leases.size).toBe(1);
  });

  it('names the registered roles when asked for an unknown one', () => {
    const { leasehold } = scriptedLease();
    expect(caught('LEASEHOLD_UNKNOWN_ROLE', () => leasehold.get('x')).message).toContain('registered: r');
    expect(leasehold.leases.has('x')).toBe(false);
  });

  it.each<[string, RoleOptions]>([
    ['healthCheck', { healthCheck: true as never }],
    ['healthCheckFailures', { healthCheckFailures: 0 }],
    ['healthCheckFailures', { healthCheckFailures: 1.5 }],
  ])('refuses a wrong %s and registers nothing', (option, options) => {
    const { leasehold } = scriptedLease();
    expect(caught('LEASEHOLD_INVALID_OPTION', () => leasehold.role('x', options)).option).toBe(option);
    expect(leasehold.leases.has('x')).toBe(false);
  });

  it('refuses a maxHold shorter than the renew interval', () => {
    const { leasehold } = scriptedLease();
    caught('LEASEHOLD_INVALID_DURATION', () => leasehold.role('x', { maxHold: '1s' }));
  });
});

describe('options of createLeasehold', () => {
  it.each<[string, unknown]>([
    ['startup', { startup: 'never' }],
    ['logger', { logger: { info() {} } }],
    ['store', { store: { heartbeat() {} } }],
    ['store', { store: 'postgres://localhost' }],
    ['instance.label', { instance: { label: '' } }],
    ['instance.label', { instance: { label: 'a'.repeat(65) } }],
    ['instance.label', { instance: { label: 'a\tb' } }],
    ['options', null],
  ])('refuses a wrong %s', (option, options) => {
    const given = options === null ? null : { store: memoryStore(), ...(options as object) };
    expect(caught('LEASEHOLD_INVALID_OPTION', () => createLeasehold(given as LeaseholdOptions)).option).toBe(option);
  });

  it('refuses an address that is no plain origin, at construction and later', () => {
    const store = memoryStore();
    for (const address of ['http://h/path', 'http://user:secret@h', 'ftp://h', 'h:80', 'http://h?q', '']) {
      const error = caught('LEASEHOLD_INVALID_ADDRESS', () => createLeasehold({ store, instance: { address } }));
      expect(error.message).not.toContain('secret');
      caught('LEASEHOLD_INVALID_ADDRESS', () => createLeasehold({ store }).advertise(address));
    }
  });

  it('needs a store in production, where electing everybody would be the worst default', () => {
    vi.stubEnv('NODE_ENV', 'production');
    try {
      const error = caught('LEASEHOLD_NO_STORE', () => createLeasehold());
      expect(error.message).toContain('postgresStore');
      expect(createLeasehold({ store: memoryStore() }).instance.id).toMatch(/-[0-9a-f]{16}$/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('elects the only instance on a memory store in development', async () => {
    await using leasehold = createLeasehold();
    const lease = leasehold.role('r');
    await leasehold.start();
    expect(lease.isHeld).toBe(true);
  });
});
