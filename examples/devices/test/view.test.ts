import { expect, test } from 'vitest';
import { plain, visibleLength } from '../../run/src/show/style.ts';
import { ROLES } from '../src/show/ledger.ts';
import { drawFrame } from '../src/view/frame.ts';
import { type Board, drawTable } from '../src/view/table.ts';

const labels = ['copy-A', 'copy-B', 'copy-C', 'copy-D', 'copy-E'];
const members = labels.map((label, place) => ({
  label,
  letter: label.at(-1),
  phase: place < 2 ? 'gone' : 'running',
  copy: { ending: 'exit code 0' },
}));

const board = {
  postgres: '17.10',
  fleet: { members },
  ledger: { holdings: new Map(ROLES.slice(1).map((role) => [role, 'copy-C'])), count: () => 63 },
  park: { ids: Array.from({ length: 160 }, String), connected: () => 160, records: { executed: new Map([['copy-C', 123_456]]) } },
  traffic: { answers: [], forwardedBy: () => 123_456 },
} as unknown as Board;

test('the table fits into 80 columns, and its strip has a letter for each partition', () => {
  const lines = drawTable(board);
  for (const line of lines) expect(visibleLength(line)).toBeLessThan(80);
  expect(plain(lines.at(-1) ?? '')).toBe(`·${'C'.repeat(63)}`);
  expect(plain(lines[1] ?? '')).toMatch(/^copy-A .* gone \(exit code 0\)$/);
});

test('explanations break between words, and the picture is no higher than the terminal', () => {
  const statements = Array.from({ length: 50 }, (_, place) => `ok ${place}`);
  const explanation = 'These are words that are too many for one line, so they have to break somewhere, and do so.';
  const lines = drawFrame(board, { step: 'Next', explanation, statements }, { columns: 60, rows: 30 }).map(plain);
  expect(lines.length).toBeLessThan(30);
  expect(lines.at(-1)).toBe(' ok 49');
  expect(lines.find((line) => line.includes('These'))?.length).toBeLessThanOrEqual(60);
  expect(lines.map((line) => line.trim()).join(' ')).toContain(explanation);
});
