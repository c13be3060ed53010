import { describe, expect, test } from 'vitest';
import { isEven, leastMoves } from '../../support/least-moves.ts';
import { ROLES } from './support/evidence.ts';

function holdings(...holders: (string | null)[]): Map<string, string> {
  return new Map(holders.flatMap((holder, place) => (holder === null ? [] : [[`r${place}`, holder] as const])));
}

describe('the least moves', () => {
  test.each([
    ['none where it is even', ['a', 'a', 'b', 'b'], ['a', 'b'], 0],
    ['none where four roles among three are as even as they can be', ['a', 'b', 'a', 'c'], ['a', 'b', 'c'], 0],
    ['what a newcomer is to have', ['a', 'a', 'a', 'a'], ['a', 'b'], 2],
    ['one for the third of three', ['a', 'a', 'b', 'b'], ['a', 'b', 'c'], 1],
    ['all of one that is gone', ['a', 'a', 'b', 'b'], ['a'], 2],
    ['all of one that is gone, and nothing of those that stay', ['a', 'a', 'b', 'c'], ['b', 'c'], 2],
    ['what nobody holds', ['a', null, 'b', null], ['a', 'b'], 2],
    ['what nobody holds, and the excess too', ['a', 'a', 'a', null], ['a', 'b'], 2],
    ['none where nobody could take anything', [null, null, null, null], [], 0],
  ])('%s', (_, holders, members, least) => {
    expect(leastMoves(holdings(...holders), members, ROLES)).toBe(least);
  });
});

describe('even', () => {
  test.each([
    ['within one', ['a', 'a', 'b', 'c'], ['a', 'b', 'c'], true],
    ['not with two more', ['a', 'a', 'a', 'b'], ['a', 'b'], false],
    ['not with a role that is vacant', ['a', 'b', null, 'a'], ['a', 'b'], false],
    ['not with a role of one that is no member', ['a', 'b', 'gone', 'a'], ['a', 'b'], false],
    ['not with a member that holds nothing', ['a', 'a', 'b', 'b'], ['a', 'b', 'c'], false],
  ])('%s', (_, holders, members, even) => {
    expect(isEven(holdings(...holders), members, ROLES)).toBe(even);
  });
});
