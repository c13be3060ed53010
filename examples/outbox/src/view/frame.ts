import type { FrameText, Size } from '../../../run/src/show/screen-output.ts';
import { bold, colourCopies, dim, wrap, yellow } from '../../../run/src/show/style.ts';
import { LEASE_MS } from '../show/stage.ts';
import { type Board, drawTable } from './table.ts';

/** The whole picture, line by line. */
export function drawFrame(board: Board, text: FrameText, { columns, rows }: Size): string[] {
  const rule = dim('─'.repeat(Math.max(0, columns - 2)));
  const { customers, postgres } = board;
  const head = [
    `${bold('Leasehold · outbox')}   ${dim(`two processes · PostgreSQL ${postgres} · leases ${LEASE_MS / 1_000} s`)}`,
    rule,
    '',
    ...drawTable(board),
    '',
    `${dim('orders')} ${customers.placed}, ${customers.sentAgain} sent again`,
    rule,
    `${yellow('▶')} ${bold(colourCopies(text.step))}`,
    ...wrap(text.explanation, columns - 4).map((line) => `  ${dim(line)}`),
    '',
  ];
  const room = Math.max(0, rows - head.length - 1);
  return [...head, ...text.statements.slice(-room)].map((line) => ` ${line}`);
}
