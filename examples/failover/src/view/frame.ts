import type { Cluster } from '../demo/cluster.ts';
import type { CopyProcess } from '../demo/copy-process.ts';
import type { EventReader } from '../demo/event-stream.ts';
import type { Traffic } from '../demo/traffic.ts';
import { LEASE_MS } from '../demo/stage.ts';
import type { FrameText, Size } from '../../../run/src/show/screen-output.ts';
import { badge, bar, bold, colourCopies, dim, green, pad, red, visibleLength, yellow } from '../../../run/src/show/style.ts';

/** What the screen shows, read anew for each frame. */
export interface Board {
  readonly postgres: string;
  readonly cluster: Cluster;
  readonly traffic: Traffic;
  readonly reader: EventReader;
}

/** The whole picture, line by line. */
export function drawFrame(board: Board, text: Pick<FrameText, 'step' | 'statements'>, { columns, rows }: Size): string[] {
  const rule = dim('─'.repeat(Math.max(0, columns - 2)));
  const head = [
    `${bold('Leasehold · failover')}   ${dim(`three copies of one application · PostgreSQL ${board.postgres} · lease ${LEASE_MS / 1_000} s`)}`,
    rule,
    '',
    holderLine(board.cluster, columns),
    '',
    ...board.cluster.copies.map((copy) => copyLine(copy)),
    '',
    `${dim('HTTP')}   ${requestLine(board.traffic)}`,
    `${dim('SSE ')}   ${streamLine(board.reader)}`,
    '',
    rule,
    `${yellow('▶')} ${bold(colourCopies(text.step))}`,
    '',
  ];
  const room = Math.max(0, rows - head.length - 1);
  return [...head, ...text.statements.slice(-room)].map((line) => ' '.repeat(INDENT) + line);
}

const BAR_WIDTH = 24;
/** The space before every line. */
const INDENT = 1;

/** The bar gives way where the line would be wider than the terminal: what follows it says how long. */
function holderLine(cluster: Cluster, columns: number): string {
  const { holder, running } = cluster;
  // A holder that is gone or frozen tells nothing any more: the others still know what is left of its lease.
  const view = holder?.state ?? running.map(({ state }) => state).find((state) => state?.holder != null);
  if (view?.holder == null) return `maintenance is held by ${red(bold('nobody'))}`;
  const silent = holder === undefined ? red(', not answering') : '';
  const token = cluster.terms.at(-1)?.token ?? '?';
  const before = `maintenance is held by ${bold(colourCopies(view.holder))}${silent}   token ${bold(String(token))}   `;
  const after = ` ${(view.remainingMs / 1_000).toFixed(1)} s left`;
  const room = columns - INDENT - visibleLength(before) - visibleLength(after);
  return `${before}${bar(view.remainingMs / LEASE_MS, Math.max(0, Math.min(BAR_WIDTH, room)))}${after}`;
}

function copyLine(copy: CopyProcess): string {
  const where = copy.origin === null ? '' : dim(`${copy.origin}  pid ${copy.pid ?? '?'}`);
  return `  ${colourCopies(copy.label)}   ${pad(copyStatus(copy), 22)} ${where}`;
}

function copyStatus({ phase, state, ending }: CopyProcess): string {
  if (phase === 'gone') return red(ending === '' ? '· not started' : `✕ gone (${ending})`);
  if (phase === 'frozen') return red('‖ frozen (SIGSTOP)');
  if (phase === 'stopping') return yellow('… stopping');
  if (phase === 'starting' || state === null) return yellow('… starting');
  return state.isHeld ? `● ${badge(' HOLDS ')}` : `${green('○')} stands by`;
}

function requestLine({ last }: Traffic): string {
  if (last === undefined) return dim('no request yet');
  const ms = `${Math.round(last.answeredAt - last.askedAt)} ms`;
  if (last.status === null) return `${colourCopies(last.asked)} ${red('gave no answer')}`;
  if (last.by === null) {
    return `${colourCopies(last.asked)} refused: ${red(`${last.status}, Retry-After ${last.retryAfter ?? '-'} s`)}`;
  }
  return `${colourCopies(last.asked)} was asked, ${bold(colourCopies(last.by))} answered under token ${last.token} ${dim(`(${ms})`)}`;
}

function streamLine({ last, through, events }: EventReader): string {
  if (through === null) return red('connecting');
  if (last === undefined || last.through !== through) return dim(`open through ${through}`);
  return `event ${events.length} from ${bold(colourCopies(last.by))}, read through ${colourCopies(through)}`;
}
