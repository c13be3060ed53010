import { describe, expect, test } from 'vitest';
import { findUnannounced, findUnpaired } from '../src/checker/pairing.ts';
import type { WorkerLog } from '../src/checker/history.ts';
import { LogFolder } from '../src/log/fold-log.ts';
import type { Line } from '../src/log/line.ts';

const ROLE = 'role-001';
const gain = (token: number): Line => ({ k: 'gain', at: 0, role: ROLE, token });
const loss = (token: number): Line => ({ k: 'loss', at: 0, role: ROLE, token, reason: 'LEASEHOLD_TERM_EXPIRED' });
const look = (at: number, ...tokens: number[]): Line => ({
  k: 'look',
  from: at,
  to: at + 1,
  held: tokens.map((token) => [0, token]),
});
const claim = (at: number, token: number): Line => ({ k: 'claim', from: at, to: at + 1, held: [[0, token]] });
const end: Line = { k: 'end', at: 0 };

function fold(...lines: readonly Line[]): WorkerLog {
  const folder = new LogFolder();
  folder.add({ k: 'start', at: 0, instance: 'a' });
  for (const line of lines) folder.add(line);
  return folder.finish();
}

describe('a log', () => {
  test('becomes one belief for each term, from the first look to the last', () => {
    expect(fold(gain(1), look(10, 1), claim(20, 1), look(30, 1), look(40)).beliefs).toEqual([
      { instance: 'a', role: ROLE, token: 1, first: { from: 10, to: 11 }, last: { from: 30, to: 31 } },
    ]);
  });

  test('counts the writes that were refused', () => {
    const refused = (late: boolean): Line => ({ k: 'refused', at: 0, role: ROLE, token: 1, late });
    expect(fold(refused(true), refused(false)).refused).toEqual({ all: 2, late: 1 });
  });

  test.each([
    ['after a look that did not see it', [look(10, 1), look(20), look(30, 1)]],
    ['after its loss was announced', [look(10, 1), loss(1), claim(20, 1)]],
  ])('tells of a term held again %s', (_, lines) => {
    expect(fold(gain(1), ...lines).wrong).toEqual([expect.stringContaining('token 1 was held again')]);
  });

  test('of nothing wrong tells nothing', () => {
    expect(fold(gain(1), look(10, 1), loss(1), look(20), gain(2), look(30, 2)).wrong).toEqual([]);
  });
});

describe('gains and losses', () => {
  test('one loss for each gain is right', () => {
    expect(findUnpaired(fold(gain(1), loss(1), gain(2), loss(2), end))).toEqual([]);
  });

  test('a process that was killed owes no last loss', () => {
    expect(findUnpaired(fold(gain(1)))).toEqual([]);
  });

  test.each([
    ['a loss that is missing', [gain(1), gain(2), loss(2), end], 'never announced the loss of token 1'],
    ['a last loss that is missing', [gain(1), end], 'ended without announcing the loss of token 1'],
    ['a second loss', [gain(1), loss(1), loss(1), end], 'a loss too many of token 1'],
    ['the loss of another term', [gain(1), loss(2), end], 'a loss too many of token 2'],
  ])('%s is found', (_, lines, why) => {
    expect(findUnpaired(fold(...lines)).map(({ what }) => what)).toEqual([expect.stringContaining(why)]);
  });

  test('a belief without a gain is found', () => {
    expect(findUnannounced(fold(gain(1), look(10, 1)))).toEqual([]);
    expect(findUnannounced(fold(look(10, 2)))).toHaveLength(1);
  });
});
