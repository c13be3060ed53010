import { expect, test } from 'vitest';
import { epochsOf, withStops } from '../src/checker/epochs.ts';
import { beat } from './support/evidence.ts';

function membersAt(changes: Parameters<typeof epochsOf>[0], time: number): readonly string[] | undefined {
  return epochsOf(changes, 4, 100).find(({ from, to }) => from <= time && time < to)?.members;
}

test('a member takes part from its declaration until its time has run out', () => {
  const changes = [beat('a', 0), beat('a', 15), beat('b', 20)];
  expect(epochsOf(changes, 4, 100)).toEqual([
    { from: 0, to: 20, members: ['a'] },
    { from: 20, to: 35, members: ['a', 'b'] },
    { from: 35, to: 40, members: ['b'] },
    { from: 40, to: 100, members: [] },
  ]);
});

test('heartbeats change nothing', () => {
  const changes = Array.from({ length: 10 }, (_, place) => beat('a', place * 10));
  expect(epochsOf(changes, 4, 100)).toEqual([{ from: 0, to: 100, members: ['a'] }]);
});

test.each([
  ['drains', { draining: true }],
  ['declares another count', { roles: 8 }],
  ['declares none', { roles: null }],
])('who %s is no member from then on', (_, more) => {
  const changes = [beat('a', 0), beat('a', 10, more)];
  expect([membersAt(changes, 9), membersAt(changes, 10)]).toEqual([['a'], []]);
});

test('who comes back too late was away', () => {
  const changes = [beat('a', 0), beat('b', 0, { until: 100 }), beat('a', 30)];
  expect([membersAt(changes, 19), membersAt(changes, 25), membersAt(changes, 30)]).toEqual([
    ['a', 'b'],
    ['b'],
    ['b', 'a'].toSorted(),
  ]);
});

test('who was told to stop is no member from then on, though it beats on', () => {
  const changes = withStops([beat('a', 0), beat('a', 10), beat('a', 18)], new Map([['a', 12]]));
  expect([membersAt(changes, 11), membersAt(changes, 12), membersAt(changes, 20)]).toEqual([['a'], [], []]);
});
