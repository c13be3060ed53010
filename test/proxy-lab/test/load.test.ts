import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../lab/src/random.ts';
import { fromQuery, toPath } from '../src/answer-spec.ts';
import { answerBody, BodyCheck, uploadBody } from '../src/bytes.ts';
import { type PlannedRequest, planRequest } from '../src/client/plan-request.ts';
import { growthFigures } from '../src/load/growth.ts';
import { longestRefusalMs } from '../src/load/refusals.ts';
import { readOptions } from '../src/options.ts';
import { outcome, refusal } from './support/history.ts';

function plan(seed: number, count: number): PlannedRequest[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, index) => planRequest(`s${index}`, random));
}

describe('the mixed load', () => {
  const planned = plan(1, 5_000);

  test('is named by its seed', () => {
    expect(plan(1, 50)).toEqual(planned.slice(0, 50));
    expect(plan(2, 50)).not.toEqual(planned.slice(0, 50));
  });

  test('has everything in it', () => {
    const kinds = new Set(planned.flatMap(({ method, answer, leaves }) => [method, answer.shape, leaves, answer.breakBy]));
    const all = ['GET', 'HEAD', 'POST', 'DELETE', 'fixed', 'streamed', 'chunked', 'sse', 'close', 'end', 'reset'];
    expect([...kinds]).toEqual(expect.arrayContaining([...all, 'before-body', 'uploading', 'before-head', 'mid-body', null]));
    expect(planned.some(({ answer }) => answer.early)).toBe(true);
    expect(planned.some(({ upload }) => upload?.chunked === false)).toBe(true);
  });

  test('never asks for an end that nobody can tell from the end of the answer', () => {
    const uncertain = planned.filter(
      ({ answer }) => answer.shape === 'close' && answer.breakAt !== null && answer.breakBy === 'end',
    );
    expect(uncertain).toEqual([]);
  });

  test('reaches the holder as it was planned', () => {
    for (const { id, answer } of planned.slice(0, 200)) {
      expect(fromQuery(new URL(toPath(id, answer), 'http://lab').searchParams)).toEqual(answer);
    }
  });
});

describe('bodies', () => {
  test('are known to both ends, and other for another id', () => {
    expect(answerBody('s1', 100).equals(answerBody('s1', 100))).toBe(true);
    expect(answerBody('s1', 100).equals(answerBody('s2', 100))).toBe(false);
    expect(uploadBody('s1', 200)).toHaveLength(200);
    expect(uploadBody('s1', 10)).toHaveLength(10);
  });

  test('that end early, go on, or change are found', () => {
    const judge = (...chunks: readonly Buffer[]): boolean => {
      const check = new BodyCheck(answerBody('s1', 100));
      for (const chunk of chunks) check.take(chunk);
      return check.isWhole;
    };
    const body = answerBody('s1', 100);
    expect(judge(body.subarray(0, 30), body.subarray(30))).toBe(true);
    expect(judge(body.subarray(0, 99))).toBe(false);
    expect(judge(body, Buffer.from('x'))).toBe(false);
    expect(judge(body.subarray(0, 30), body.subarray(0, 70))).toBe(false);
  });
});

describe('figures', () => {
  const measured = { heapBytes: 20_000_000, connections: 0, sockets: 1, timers: 2 };
  const missed = (after: object): string[] =>
    growthFigures('soak', [measured], [{ ...measured, ...after }])
      .filter(({ ok }) => !ok)
      .map(({ name }) => name);

  test('a socket, timers or memory left over are missed targets', () => {
    expect(missed({})).toEqual([]);
    expect(missed({ sockets: 2 })).toEqual(['socketsLeft@soak']);
    expect(missed({ timers: 5 })).toEqual(['timersLeft@soak']);
    expect(missed({ heapBytes: 23_000_000 })).toEqual(['heapGrowth@soak']);
  });

  test('the longest stretch of refusals is from answer to answer', () => {
    const at = (ms: number) => ({ headAt: ms * 1_000 });
    const outcomes = [
      outcome('1', at(0)),
      refusal('2', at(10)),
      outcome('3', at(70)),
      outcome('4', at(500)),
      refusal('5', at(510)),
    ];
    expect(longestRefusalMs(outcomes)).toBe(70);
  });
});

describe('options', () => {
  test('are full by default, and small for --quick', () => {
    expect(readOptions([])).toMatchObject({ requests: 100_000, failovers: 50, rate: 200, streams: 1_000, messages: 10_000 });
    expect(readOptions(['--quick', '--requests', '7'])).toMatchObject({ requests: 7, failovers: 3 });
    expect(readOptions(['--only', 'streams,soak'])).toMatchObject({ only: ['soak', 'streams'] });
  });

  test.each([[['--only', 'sock']], [['--requests', '0']], [['--seed', 'x']]])('%j is refused', (args) => {
    expect(() => readOptions(args)).toThrow(args[0]);
  });
});
