import { describe, expect, test } from 'vitest';
import { type Board, drawFrame } from '../src/view/frame.ts';
import { sizeOf } from '../../run/src/show/screen-output.ts';
import { visibleLength } from '../../run/src/show/style.ts';

const state = { isHeld: false, holder: 'copy-1', holderAddress: null, remainingMs: 2_900 };
const bystander = { label: 'copy-2', phase: 'running', ending: '', origin: 'http://127.0.0.1:40000', pid: 4_000_000, state };

/** The holder is frozen: its line is the longest then. */
const board = {
  postgres: '17.10',
  cluster: { copies: [bystander], running: [bystander], holder: undefined, terms: [{ token: 12 }] },
  traffic: { last: undefined },
  reader: { last: undefined, through: null, events: [] },
} as unknown as Board;

function holderLine(columns: number): string {
  const lines = drawFrame(board, { step: '', statements: [] }, { columns, rows: 40 });
  return lines.find((line) => line.includes('maintenance is held by')) ?? '';
}

describe('the line of a holder that does not answer', () => {
  test.each([80, 100, 200])('fits into %i columns, to its end', (columns) => {
    const line = holderLine(columns);
    expect(line).toContain('not answering');
    expect(line).toMatch(/2\.9 s left$/);
    expect(visibleLength(line)).toBeLessThanOrEqual(columns);
  });

  test('has the bar in full where there is room', () => {
    expect(holderLine(200).match(/[█░]/g)).toHaveLength(24);
    expect(holderLine(80).match(/[█░]/g)?.length).toBeGreaterThan(5);
  });
});

test('a terminal that says that it has no columns has 80', () => {
  expect(sizeOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 });
  expect(sizeOf({})).toEqual({ columns: 80, rows: 24 });
  expect(sizeOf({ columns: 100, rows: 30 })).toEqual({ columns: 100, rows: 30 });
});
