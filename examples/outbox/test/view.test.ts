import { expect, test } from 'vitest';
import { plain, visibleLength } from '../../run/src/show/style.ts';
import { drawFrame } from '../src/view/frame.ts';
import type { Board } from '../src/view/table.ts';

const numbers = { due: 123_456, leased: 5, waiting: 0, delivered: 1_234_567, dead: 2 };

const board = {
  postgres: '17.10',
  fleet: {
    members: [
      { label: 'copy-A', phase: 'running' },
      { label: 'copy-B', phase: 'gone', copy: { ending: 'SIGKILL' } },
    ],
  },
  ledger: {
    targets: [
      { role: 'billing', holder: 'copy-A-7f3a', ...numbers },
      { role: 'shipping', holder: null, ...numbers },
      { role: null, holder: null, ...numbers },
    ],
  },
  customers: { placed: 100, sentAgain: 3 },
} as unknown as Board;

test('the picture fits into 80 columns and the terminal, and tells who holds what', () => {
  const statements = Array.from({ length: 50 }, (_, place) => `ok ${place}`);
  const lines = drawFrame(board, { step: 'Next', explanation: 'word '.repeat(40), statements }, { columns: 80, rows: 24 });
  for (const line of lines) expect(visibleLength(line)).toBeLessThan(80);
  expect(lines.length).toBeLessThan(24);
  const text = lines.map(plain).join('\n');
  expect(text).toMatch(/^ billing +copy-A +123456 +5 +0 +1234567 +2$/m);
  expect(text).toMatch(/^ shipping +nobody /m);
  expect(text).toMatch(/^ \(none\) +anybody /m);
  expect(text).toContain('copy-A running   copy-B gone (SIGKILL)');
  expect(text.endsWith(' ok 49')).toBe(true);
});
