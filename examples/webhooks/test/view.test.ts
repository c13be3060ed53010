import { expect, test } from 'vitest';
import { plain, visibleLength } from '../../run/src/show/style.ts';
import { type Visit, VisitLog } from '../src/receiver/log.ts';
import { mostTried } from '../src/receiver/waits.ts';
import { drawFrame } from '../src/view/frame.ts';
import { drawLadder } from '../src/view/ladder.ts';
import { type Board, drawTable } from '../src/view/table.ts';

const visit = { key: '5a208a37-0000', by: 'copy-A', answer: '500', ok: false, notBefore: null };

function logOf(): VisitLog {
  const log = new VisitLog();
  log.add({ ...visit, key: 'other', attempt: 1, at: 900, answeredAt: 950 });
  log.add({ ...visit, attempt: 1, at: 1_000, answeredAt: 1_100, notBefore: 2_100, answer: '503, Retry-After: 1' });
  log.hungUp(log.of(visit.key)[0] as Visit);
  log.add({ ...visit, attempt: 2, at: 2_150, answeredAt: null, answer: 'no answer in time' });
  log.add({ ...visit, attempt: 3, at: 5_000, answeredAt: 5_100, answer: '200', ok: true });
  return log;
}

const stats = { done: 123, retried: 45, buried: 1, claims: 678, emptyClaims: 90, running: 8, waiting: 80 };
const board = {
  postgres: '17.10',
  workers: {
    members: [
      { label: 'copy-A', copy: { isRunning: true, ending: '' }, stats: [stats, stats] },
      { label: 'copy-B', copy: { isRunning: false, ending: 'SIGKILL' }, stats: [stats] },
    ],
  },
  ledger: { tally: { due: 10, leased: 8, waiting: 4, done: 300, dead: 3 } },
  receiver: { log: logOf() },
} as unknown as Board;

test('the ladder shows what was asked, what the ladder says, and what was waited', () => {
  const log = logOf();
  const lines = drawLadder(log, mostTried(log)).map(plain);
  expect(lines[0]).toContain('5a208a37');
  expect(lines.slice(2).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['1', 'copy-A', '1.00 s', '0.30 s', '1.05 s', '503, Retry-After: 1 (heard by nobody)'],
    ['2', 'copy-A', '0.60 s', 'no answer in time'],
    ['3', 'copy-A', '200'],
  ]);
});

test('the table fits into 80 columns, and counts all processes of a worker', () => {
  const lines = drawTable(board);
  for (const line of lines.filter((one) => !plain(one).includes('gone'))) expect(visibleLength(line)).toBeLessThan(80);
  expect(plain(lines[1] ?? '').split(/ +/)).toEqual(['copy-A', '8', '80', '246', '90', '2', '1356', '180']);
  expect(plain(lines[2] ?? '')).toMatch(/^copy-B {8}0 .* gone \(SIGKILL\)$/);
});

test('the picture is no higher than the terminal, and one that is too low has no room for statements', () => {
  const statements = Array.from({ length: 50 }, (_, place) => `ok ${place}`);
  const text = { step: 'Next', explanation: 'Words.', statements };
  expect(drawFrame(board, text, { columns: 80, rows: 40 }).length).toBeLessThan(40);
  expect(plain(drawFrame(board, text, { columns: 80, rows: 40 }).at(-1) ?? '')).toBe(' ok 49');
  expect(drawFrame(board, text, { columns: 80, rows: 10 }).join('\n')).not.toContain('ok 1');
});
