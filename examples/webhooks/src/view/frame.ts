import type { FrameText, Size } from '../../../run/src/show/screen-output.ts';
import { bold, colourCopies, dim, wrap, yellow } from '../../../run/src/show/style.ts';
import { STEPS } from '../deliver.ts';
import { DELIVERIES } from '../show/application.ts';
import { type Board, drawTable } from './table.ts';

/** Of the table when it is full, so that what stands below stays where it is. */
const TABLE_LINES = 17;

/** The whole picture, line by line. */
export function drawFrame(board: Board, text: FrameText, { columns, rows }: Size): string[] {
  const rule = dim('─'.repeat(Math.max(0, columns - 2)));
  const about = `${DELIVERIES} deliveries · PostgreSQL ${board.postgres} · ladder ${STEPS.join(', ')}`;
  const table = drawTable(board);
  const head = [
    `${bold('Leasehold · webhooks')}   ${dim(about)}`,
    rule,
    '',
    ...table,
    ...Array.from({ length: Math.max(0, TABLE_LINES - table.length) }, () => ''),
    rule,
    `${yellow('▶')} ${bold(colourCopies(text.step))}`,
    ...wrap(text.explanation, columns - 4).map((line) => `  ${dim(line)}`),
    '',
  ];
  const room = Math.max(0, rows - head.length - 1);
  // Without `slice(-0)`, which is all of them.
  const statements = text.statements.slice(Math.max(0, text.statements.length - room));
  return [...head, ...statements].map((line) => ` ${line}`);
}
