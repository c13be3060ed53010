import { expect, test } from 'vitest';
import type { StruckFault, WorkerLog } from '../src/checker/history.ts';
import { findUnprovoked } from '../src/checker/unprovoked.ts';
import { fault } from './support/evidence.ts';

const LEASE_MS = 2_000;

function lostAt(at: number, reason: string): WorkerLog {
  const loss = { kind: 'loss' as const, role: 'r', token: 1, at: at * 1_000, reason };
  return { instance: 'a', ended: false, beliefs: [], events: [loss], refused: { all: 0, late: 0 }, wrong: [] };
}

const expired = lostAt(10_000, 'LEASEHOLD_TERM_EXPIRED');

test.each<[string, StruckFault]>([
  ['of the instance', fault({ of: 'instances', instances: ['a'] }, [9_000, 11_000])],
  ['of the instance that is over', fault({ of: 'instances', instances: ['a'] }, [6_000, 7_000])],
  ['of the row', fault({ of: 'roles', roles: ['r'] }, [9_000, 11_000])],
  ['of the database', fault({ of: 'all' }, [9_000, 11_000])],
])('a loss after a fault %s is right', (_, cause) => {
  expect(findUnprovoked(expired, [cause], LEASE_MS)).toEqual([]);
});

test.each<[string, StruckFault[]]>([
  ['without a fault', []],
  ['after the fault of another instance', [fault({ of: 'instances', instances: ['b'] }, [9_000, 11_000])]],
  ['after the fault of another row', [fault({ of: 'roles', roles: ['s'] }, [9_000, 11_000])]],
  ['long after a fault', [fault({ of: 'all' }, [6_000, 6_999])]],
  ['before the fault', [fault({ of: 'all' }, [10_001, 11_000])]],
])('a loss %s is found', (_, faults) => {
  expect(findUnprovoked(expired, faults, LEASE_MS)).toEqual([
    { check: 'unprovoked loss', what: expect.stringContaining('token 1') },
  ]);
});

test('a term that was given up needs no fault', () => {
  expect(findUnprovoked(lostAt(10_000, 'LEASEHOLD_TERM_STEPPED_DOWN'), [], LEASE_MS)).toEqual([]);
});
