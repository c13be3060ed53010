import { bar, bold, copyColour, dim, pad, red, yellow } from '../../../run/src/show/style.ts';
import type { DevicePark } from '../devices/device-park.ts';
import type { Fleet, Member } from '../show/fleet.ts';
import { type Ledger, ROLES } from '../show/ledger.ts';
import type { Traffic } from '../show/traffic.ts';

/** What is shown, read anew each time. */
export interface Board {
  readonly postgres: string;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly park: DevicePark;
  readonly traffic: Traffic;
}

const BAR_WIDTH = 12;
const WIDTHS = [7, 2, BAR_WIDTH, 7, 8, 9] as const;

/** One line for each process, and the partitions in the letters and colours of their owners. */
export function drawTable(board: Board): string[] {
  return [
    dim(row(['process', '', 'partitions', 'devices', 'commands', 'forwarded'])),
    ...board.fleet.members.map((member) => line(board, member)),
    '',
    dim(`who has which of the ${ROLES.length} partitions:`),
    strip(board.ledger),
  ];
}

function row(cells: readonly string[]): string {
  return cells.map((cell, column) => (column === 0 || column === 2 ? left(cell, column) : right(cell, column))).join('  ');
}

function left(cell: string, column: number): string {
  return pad(cell, WIDTHS[column] ?? 0);
}

function right(cell: string, column: number): string {
  return cell.padStart(WIDTHS[column] ?? 0);
}

function line({ ledger, park, traffic }: Board, { label, letter, phase, copy }: Member): string {
  const partitions = ledger.count(label);
  const cells = row([
    copyColour(letter)(label),
    String(partitions),
    bar(partitions / ROLES.length, BAR_WIDTH),
    String(park.connected(label)),
    String(park.records.executed.get(label) ?? 0),
    String(traffic.forwardedBy(label)),
  ]);
  if (phase === 'running') return cells;
  return `${cells}  ${phase === 'gone' ? red(`gone (${copy.ending})`) : yellow(phase)}`;
}

/** Each partition is the letter of its owner; a point is nobody's. */
function strip({ holdings }: Ledger): string {
  const cells = ROLES.map((role) => {
    const letter = holdings.get(role)?.at(-1);
    return letter === undefined ? dim('·') : bold(copyColour(letter)(letter));
  });
  return cells.join('');
}
