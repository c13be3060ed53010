import { createLeasehold, LeaseholdError, resolveDuration, silentLogger } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { createFence, postgresStore, withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { scriptedLease } from './support/scripted-lease.ts';

function caught(call: () => unknown): LeaseholdError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(LeaseholdError);
    return error as LeaseholdError;
  }
  return expect.unreachable('an error is expected');
}

function warnings(): string[] {
  const seen: string[] = [];
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void seen.push(String(warning)));
  onTestFinished(() => spy.mockRestore());
  return seen;
}

describe('an option that does not exist', () => {
  it.each([
    [
      'createLeasehold()',
      'drainTimout',
      'drainTimeout',
      () => createLeasehold({ store: memoryStore(), drainTimout: '1s' } as never),
    ],
    ['createLeasehold()', 'connectionString', 'store', () => createLeasehold({ connectionString: 'postgres://h/d' } as never)],
    [
      'createLeasehold()',
      'listens',
      'store',
      () => createLeasehold(postgresStore({ connectionString: 'postgres://h/d' }) as never),
    ],
    [
      'role()',
      'leaseDurationMs',
      'leaseDuration',
      () => createLeasehold({ store: memoryStore() }).role('r', { leaseDurationMs: 1 } as never),
    ],
    ['instance', 'adress', 'address', () => createLeasehold({ store: memoryStore(), instance: { adress: 'http://h' } } as never)],
    ['postgresStore()', 'shema', 'schema', () => postgresStore({ connectionString: 'postgres://h/d', shema: 'x' } as never)],
  ])('of %s is refused: %s, and %s is among those named', (where, option, meant, call) => {
    const error = caught(call);
    expect(error.code).toBe('LEASEHOLD_INVALID_OPTION');
    expect(error.message).toContain(where);
    expect(error.message).toContain(meant);
    if (option !== 'listens') expect(error).toMatchObject({ option, message: expect.stringContaining(option) });
  });

  it('is not one that is undefined: that is how an option is left out', () => {
    expect(createLeasehold({ store: memoryStore(), callTimeout: undefined } as never).leases.size).toBe(0);
  });
});

describe('the memory of one process, in place of a store', () => {
  it('is said, once for each Leasehold, in the log or as a warning of the process', () => {
    const seen = warnings();
    const warn = vi.fn();
    createLeasehold({ logger: { ...silentLogger, warn } });
    expect(warn).toHaveBeenCalledExactlyOnceWith({}, expect.stringContaining('no store was given'));
    expect(seen).toEqual([]);
    createLeasehold();
    expect(seen).toEqual([expect.stringContaining('every process holds them all')]);
  });
});

describe('a start that waits', () => {
  it('says why, without a logger too', async () => {
    const seen = warnings();
    const { leasehold, store, clock } = scriptedLease({ startup: 'wait' });
    store.openError = new Error('password authentication failed');
    const refused = expect(leasehold.start()).rejects.toMatchObject({ code: 'LEASEHOLD_STOPPED' });
    await clock.advance(60_000);
    expect(seen).toEqual([expect.stringMatching(/start\(\) waits.*password authentication failed/)]);
    const stopped = leasehold.stop();
    await clock.advance(5_000);
    await Promise.all([refused, stopped]);
  });
});

describe('stop() after a start() that failed', () => {
  it('is no error of its own, so that the first one is seen', async () => {
    const { leasehold, store, clock } = scriptedLease({ startup: 'fail', logger: silentLogger });
    store.openError = new Error('down');
    const run = async (): Promise<void> => {
      try {
        await leasehold.start();
      } finally {
        await leasehold.stop();
      }
    };
    await expect(Promise.all([run(), clock.advance(0)])).rejects.toThrow('down');
  });
});

describe('messages', () => {
  it('name the option that was given when the timing does not fit', () => {
    expect(caught(() => createLeasehold({ store: memoryStore(), renewInterval: '20s' })).option).toBe('renewInterval');
    expect(caught(() => createLeasehold({ store: memoryStore(), safetyMargin: '12s' })).option).toBe('safetyMargin');
    expect(caught(() => createLeasehold({ store: memoryStore(), leaseDuration: '1s', renewInterval: '1s' })).option).toBe(
      'leaseDuration',
    );
  });

  it('give bounds in units', () => {
    expect(caught(() => resolveDuration('x', -1)).message).toContain('from 1ms to 366d');
    expect(caught(() => resolveDuration('x', -1, { min: 500, max: 3_600_000 })).message).toContain('from 500ms to 1h');
  });

  it('tell an empty connection string, two sources, and what is no PostgreSQL', () => {
    const empty = caught(() => postgresStore({ connectionString: '' }));
    expect(empty.message).toMatch(/connectionString is empty.*environment variable/);
    const two = caught(() => postgresStore({ connectionString: 'postgres://h/d', connection: {} }));
    expect(two.message).toMatch(/connectionString and connection were given/);
    expect(caught(() => postgresStore({ connectionString: 'mysql://u:s3cret@h/d' })).message).not.toContain('s3cret');
    expect(caught(() => postgresStore({ pool: new pg.Client() as never })).option).toBe('pool');
  });

  it('show no fields that say nothing', () => {
    expect(Object.keys(new LeaseholdError('LEASEHOLD_STOPPED', 'x'))).toEqual(['name', 'code']);
    expect(caught(() => createLeasehold({ store: memoryStore() }).get('repotrs')).role).toBe('repotrs');
  });
});

describe('withFence and createFence', () => {
  it('refuse what is no pool, no term and no work', async () => {
    const pool = new pg.Pool();
    const term = { fence: async () => {} } as never;
    const refused = expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION' });
    await expect(withFence(new pg.Client() as never, term, async () => {})).rejects.toEqual(refused);
    await expect(withFence(term, pool as never, async () => {})).rejects.toEqual(refused);
    await expect(withFence(pool, {} as never, async () => {})).rejects.toEqual(refused);
    await expect(withFence(pool, term, undefined as never)).rejects.toEqual(refused);
    expect(caught(() => createFence({ pool } as never))).toEqual(refused);
  });
});
