import { describe, expect, test } from 'vitest';
import { judgeBalance } from '../src/checker/balance.ts';
import { at, epoch, held, RULES } from './support/evidence.ts';

const both = ['a', 'a', 'b', 'b'];

/** Two hold everything; at 10 `c` joins, to which one role is due. */
const joined = [epoch(0, 10, 'a', 'b'), epoch(10, 40, 'a', 'b', 'c')];

describe('a history that is right', () => {
  test('of a newcomer: one move, even after two heartbeats', () => {
    const moves = [at(11, 'released', 'r0', 'a'), at(12, 'taken', 'r0', 'c')];
    expect(judgeBalance(joined, [...held(...both), ...moves], RULES)).toEqual({
      worstHeartbeats: 2,
      settled: 2,
      moves: 5,
      leastMoves: 5,
      movedTwice: [],
      uneven: [],
    });
  });

  test('of a death: what ran out had to move', () => {
    const epochs = [epoch(0, 10, 'a', 'b'), epoch(10, 40, 'a')];
    const moves = ['r2', 'r3'].flatMap((role) => [at(10.5, 'expired', role, 'b'), at(11, 'taken', role, 'a')]);
    moves.sort((a, b) => a.at - b.at);
    const verdict = judgeBalance(epochs, [...held(...both), ...moves], RULES);
    expect(verdict).toMatchObject({ worstHeartbeats: 0.5, moves: 6, leastMoves: 6, movedTwice: [], uneven: [] });
  });

  test('of a change that the next one cuts short: it owes nothing for what it left', () => {
    const epochs = [epoch(0, 10, 'a', 'b'), epoch(10, 11, 'a', 'b', 'c'), epoch(11, 40, 'a', 'b')];
    expect(judgeBalance(epochs, held(...both), RULES)).toMatchObject({ moves: 4, leastMoves: 4, settled: 2, uneven: [] });
  });

  test('of a role that moved, and whose new holder froze before it could renew: the row of the frozen outlived its lease', () => {
    const frozen = [
      at(11, 'released', 'r0', 'a'),
      at(12, 'taken', 'r0', 'c'),
      at(14, 'expired', 'r0', 'c'),
      at(14.1, 'taken', 'r0', 'b'),
    ];
    expect(judgeBalance(joined, [...held(...both), ...frozen], RULES).movedTwice).toEqual([]);
    const restless = [...frozen, at(15, 'released', 'r0', 'b'), at(16, 'taken', 'r0', 'a')];
    expect(judgeBalance(joined, [...held(...both), ...restless], RULES).movedTwice).toHaveLength(1);
  });

  test('of a stop whose roles are given back just before the row says so', () => {
    const epochs = [epoch(0, 10, 'a', 'b'), epoch(10, 40, 'a')];
    const moves = ['r2', 'r3'].flatMap((role) => [at(9.9, 'released', role, 'b'), at(11, 'taken', role, 'a')]);
    moves.sort((a, b) => a.at - b.at);
    expect(judgeBalance(epochs, [...held(...both), ...moves], RULES)).toMatchObject({ worstHeartbeats: 1, uneven: [] });
  });
});

describe('a history that is wrong', () => {
  test('never even: found, once it had the time', () => {
    const { uneven, worstHeartbeats } = judgeBalance(joined, held(...both), RULES);
    expect(worstHeartbeats).toBe(30);
    expect(uneven).toEqual([{ check: 'uneven', what: expect.stringContaining('3 members') }]);
  });

  test('even after nine heartbeats', () => {
    const moves = [at(11, 'released', 'r0', 'a'), at(19, 'taken', 'r0', 'c')];
    const { uneven, worstHeartbeats } = judgeBalance(joined, [...held(...both), ...moves], RULES);
    expect([worstHeartbeats, uneven.length]).toEqual([9, 1]);
  });

  test('even, and then no more: what counts is when it was so to the end', () => {
    const moves = [
      at(11, 'released', 'r0', 'a'),
      at(12, 'taken', 'r0', 'c'),
      at(20, 'released', 'r0', 'c'),
      at(21, 'taken', 'r0', 'a'),
    ];
    const { uneven, movedTwice } = judgeBalance(joined, [...held(...both), ...moves], RULES);
    expect(uneven).toHaveLength(1);
    expect(movedTwice).toEqual([{ check: 'moved twice', what: expect.stringContaining('r0 moved 2 times') }]);
  });

  test('moves between those who were even', () => {
    const moves = [
      at(5, 'released', 'r0', 'a'),
      at(6, 'taken', 'r0', 'b'),
      at(7, 'released', 'r2', 'b'),
      at(8, 'taken', 'r2', 'a'),
    ];
    const { moves: all, leastMoves } = judgeBalance([epoch(0, 40, 'a', 'b')], [...held(...both), ...moves], RULES);
    // Those of the beginning had to be.
    expect([all, leastMoves]).toEqual([6, 4]);
  });

  test('a role that is given back and taken again by the same one is a move, and was not necessary', () => {
    const moves = [at(11, 'released', 'r0', 'a'), at(12, 'taken', 'r0', 'a')];
    const { moves: all, leastMoves } = judgeBalance([epoch(0, 40, 'a', 'b')], [...held(...both), ...moves], RULES);
    expect([all, leastMoves]).toEqual([5, 4]);
  });

  test('a role that is given back and then nobody’s', () => {
    const { uneven } = judgeBalance([epoch(0, 40, 'a', 'b')], [...held(...both), at(20, 'released', 'r0', 'a')], RULES);
    expect(uneven).toHaveLength(1);
  });

  test('a role that ran out and is nobody’s', () => {
    const { uneven } = judgeBalance([epoch(0, 40, 'a', 'b')], [...held(...both), at(20, 'expired', 'r0', 'a')], RULES);
    expect(uneven).toHaveLength(1);
  });
});
