import { expect, test } from 'vitest';
import type { PlannedFault } from '../src/plan/fault.ts';
import type { Fleet } from '../src/processes/fleet.ts';
import { Striker } from '../src/run/striker.ts';
import type { Bench, DatabaseVerb } from '../src/verbs/verb.ts';

const planned: PlannedFault = { atMs: 0, kind: 'fails', lastsMs: 0, role: 0, slot: 0, preferHolder: false, draw: 0 };

function verb(kind: string, strike: DatabaseVerb['strike']): DatabaseVerb {
  return { kind, strikes: 'database', lasts: [0, 0], strike };
}

test('a fault that cannot be carried out fails the run, and the next one strikes all the same', async () => {
  const failures: string[] = [];
  const struck: string[] = [];
  const verbs = [
    verb('fails', () => Promise.reject(new Error('no such server'))),
    verb('works', async () => void struck.push('works')),
  ];
  const bench = { roles: [], onFailure: (what: string) => failures.push(what) } as unknown as Bench;
  const fleet = { slots: [] } as unknown as Fleet;
  const striker = new Striker({ bench, fleet, verbs, signal: new AbortController().signal });
  await striker.carryOut([planned, { ...planned, kind: 'works' }]);
  expect(failures).toEqual(['fails could not be carried out: no such server']);
  expect(struck).toEqual(['works']);
});
