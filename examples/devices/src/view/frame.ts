import type { FrameText, Size } from '../../../run/src/show/screen-output.ts';
import { bold, colourCopies, dim, wrap, yellow } from '../../../run/src/show/style.ts';
import { ROLES } from '../show/ledger.ts';
import { LEASE_MS } from '../show/stage.ts';
import { type Board, drawTable } from './table.ts';

/** The most processes that there ever are, so that what stands below the table stays where it is. */
const MOST_LINES = 5;

/** The whole picture, line by line. */
export function drawFrame(board: Board, text: FrameText, { columns, rows }: Size): string[] {
  const rule = dim('─'.repeat(Math.max(0, columns - 2)));
  const { fleet, park, traffic, postgres } = board;
  const about = `${park.ids.length} devices in ${ROLES.length} partitions · PostgreSQL ${postgres} · lease ${LEASE_MS / 1_000} s`;
  const refused = traffic.answers.filter(({ by }) => by === null).length;
  const head = [
    `${bold('Leasehold · devices')}   ${dim(about)}`,
    rule,
    '',
    ...drawTable(board),
    ...Array.from({ length: Math.max(0, MOST_LINES - fleet.members.length) }, () => ''),
    '',
    `${dim('connected')} ${park.connected()} of ${park.ids.length}   ${dim('commands')} ${traffic.answers.length}, ${refused} refused`,
    rule,
    `${yellow('▶')} ${bold(colourCopies(text.step))}`,
    ...wrap(text.explanation, columns - 4).map((line) => `  ${dim(line)}`),
    '',
  ];
  const room = Math.max(0, rows - head.length - 1);
  return [...head, ...text.statements.slice(-room)].map((line) => ` ${line}`);
}
