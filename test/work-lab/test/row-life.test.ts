import { describe, expect, test } from 'vitest';
import { judgeRow } from '../src/checker/row-life.ts';
import { ASKED, backoffMs, LEASE_MS, MOST_ATTEMPTS } from '../src/table.ts';
import { A, B, Story } from './support/evidence.ts';

function found({ versions }: Story): string[] {
  return judgeRow(versions).violations.map(({ check }) => check);
}

describe('lives that are right', () => {
  test.each<[string, Story, string[]]>([
    ['claimed and finished', new Story().claim(10, A).finish(20, A), ['finished']],
    ['renewed meanwhile', new Story().claim(10, A).renew(1_000, A).finish(3_500, A), ['finished']],
    ['changed by the application meanwhile', new Story().claim(10, A).step(12, 'lab', { amount: 1 }).finish(20, A), ['finished']],
    ['finished after its lease, by who still bears it', new Story().claim(10, A).finish(9_000, A), ['finished']],
    [
      'taken over',
      new Story()
        .claim(10, A)
        .claim(10 + LEASE_MS, B)
        .finish(4_000, B),
      ['taken', 'finished'],
    ],
    [
      'failed, and done later',
      new Story()
        .claim(10, A)
        .retry(20, A, { dueAt: 20 + backoffMs(1) })
        .claim(500, B)
        .finish(510, B),
      ['retried', 'finished'],
    ],
    [
      'put off for as long as was asked',
      new Story().claim(10, A).retry(20, A, { dueAt: 720, writtenBy: A, error: ASKED, askedMs: 700 }).claim(720, B),
      ['retried', 'open'],
    ],
    ['handed back', new Story().claim(10, A).release(20, A).claim(20, B).finish(30, B), ['released', 'finished']],
    ['buried by its worker', new Story().claim(10, A).bury(20, A, { writtenBy: A }), ['buried']],
    ['deleted', new Story().claim(10, A).remove(20), ['deleted']],
    [
      'buried by a claim when its last attempt has lapsed',
      new Story({ attempts: MOST_ATTEMPTS - 1 }).claim(10, A).bury(10 + LEASE_MS, B, { token: B }),
      ['buriedByClaim'],
    ],
    [
      'given up by its worker in words of the product',
      new Story().claim(10, A).retry(20, A, { dueAt: 900, error: 'too long' }),
      ['retried'],
    ],
  ])('%s', (_, story, ends) => {
    expect(found(story)).toEqual([]);
    expect(judgeRow(story.versions).life.leases.map(({ end }) => end)).toEqual(ends);
  });
});

describe('what is wrong is found', () => {
  test.each<[string, string, Story]>([
    ['finishedTwice', 'a second end', new Story().claim(10, A).finish(20, A).step(30, 'worker of b', { finished: 30_000 })],
    ['finishedTwice', 'a claim after the end', new Story().claim(10, A).finish(20, A).claim(30, B)],
    ['finishedTwice', 'a burial after the end', new Story().claim(10, A).finish(20, A).bury(30, B)],
    ['finishedByStaleWorker', 'an end by another process', new Story().claim(10, A).finish(20, B, { writtenBy: A })],
    ['finishedByStaleWorker', 'an end under another claim', new Story().claim(10, A).finish(20, A, { writtenBy: B })],
    ['finishedByStaleWorker', 'an end of what nobody has', new Story().claim(10, A).release(20, A).finish(30, A)],
    [
      'finishedByStaleWorker',
      'a failure of another claim',
      new Story().claim(10, A).retry(20, A, { dueAt: 900, error: `under ${B}` }),
    ],
    [
      'finishedByStaleWorker',
      'a release by another process',
      new Story().claim(10, A).step(20, 'worker of b', { token: null, until: null, attempts: 0 }),
    ],
    ['finishedByStaleWorker', 'a release that leaves the token', new Story().claim(10, A).release(20, A, { token: A })],
    ['finishedByStaleWorker', 'a renewal by another process', new Story().claim(10, A).renew(500, B)],
    ['twoLiveLeases', 'a claim within a lease', new Story().claim(10, A).claim(9 + LEASE_MS, B)],
    ['twoLiveLeases', 'a claim within a renewed lease', new Story().claim(10, A).renew(1_000, A).claim(3_500, B)],
    [
      'twoLiveLeases',
      'a burial within a lease',
      new Story({ attempts: MOST_ATTEMPTS - 1 }).claim(10, A).bury(500, B, { token: B }),
    ],
    ['claimedTooEarly', 'a claim before the row is due', new Story({ created: 50_000 }).claim(10, A)],
    ['claimedTooEarly', 'a claim before the retry', new Story().claim(10, A).retry(20, A, { dueAt: 500 }).claim(499, B)],
    ['claimedTooEarly', 'a shorter delay than the backoff', new Story().claim(10, A).retry(20, A, { dueAt: 19 + backoffMs(1) })],
    [
      'claimedTooEarly',
      'a shorter delay than was asked',
      new Story().claim(10, A).retry(20, A, { dueAt: 700, writtenBy: A, error: ASKED, askedMs: 700 }),
    ],
    ['attemptsWrong', 'a claim that does not count', new Story().claim(10, A, { attempts: 0 })],
    ['attemptsWrong', 'a release without a refund', new Story().claim(10, A).release(20, A, { attempts: 1 })],
    ['attemptsWrong', 'a failure with a refund', new Story().claim(10, A).retry(20, A, { dueAt: 900, attempts: 0 })],
    ['attemptsWrong', 'a burial with attempts left', new Story().claim(10, A).bury(10 + LEASE_MS, B, { token: B })],
    ['tokensReused', 'a token of an earlier claim', new Story().claim(10, A).release(20, A).claim(30, A)],
    ['tokensReused', 'a claim that looks like a renewal', new Story().claim(10, A).claim(4_000, A)],
    ['leasesShortened', 'a shorter lease', new Story().claim(10, A).renew(500, A, { until: 2_000_000 })],
    ['changesLost', 'a column written back', new Story({ amount: 2 }).claim(10, A).finish(20, A, { amount: 1 })],
  ])('%s: %s', (check, _, story) => {
    expect(found(story)).toContain(check);
  });
});
