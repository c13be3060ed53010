import type { ShowArguments } from './arguments.ts';
import { type Output, PlainOutput } from './output.ts';
import { colourCopies, cut, green, red } from './style.ts';

export interface FrameText {
  readonly step: string;
  readonly explanation: string;
  /** The statements so far, styled. */
  readonly statements: readonly string[];
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The whole picture, line by line. */
export type DrawFrame = (text: FrameText, size: Size) => readonly string[];

const REDRAW_MS = 100;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** A live picture on the terminal's second screen; what was found is printed on the first one at the end. */
class ScreenOutput implements Output {
  readonly #drawFrame: DrawFrame;
  readonly #timer: NodeJS.Timeout;
  readonly #statements: string[] = [];
  #step = '';
  #explanation = '';
  #ended = false;

  constructor(drawFrame: DrawFrame) {
    this.#drawFrame = drawFrame;
    process.stdout.write(ENTER);
    process.once('exit', this.#end);
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
  }

  step(title: string, explanation = ''): void {
    this.#step = title;
    this.#explanation = explanation;
  }

  statement(ok: boolean, text: string): void {
    this.#statements.push(`${ok ? green('ok') : red('FAILED')} ${colourCopies(text)}`);
  }

  #draw(): void {
    const size = sizeOf(process.stdout);
    const text = { step: this.#step, explanation: this.#explanation, statements: this.#statements };
    const lines = this.#drawFrame(text, size);
    process.stdout.write(HOME + lines.map((line) => cut(line, size.columns) + CLEAR_LINE).join('\n') + CLEAR_BELOW);
  }

  /** It is drawn all the time. */
  picture(): void {}

  end(): void {
    this.#end();
  }

  /** After an uncaught error too: a shell without a cursor is no fun. */
  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    process.off('exit', this.#end);
    process.stdout.write(`${LEAVE}${this.#statements.join('\n')}\n`);
  };
}

/** Terminals that nobody has told their size say that it is 0: then a usual one is assumed. */
export function sizeOf({ columns, rows }: Partial<Size>): Size {
  return { columns: columns || 80, rows: rows || 24 };
}

/** The screen where somebody watches, and lines otherwise. */
export function createOutput({ ci, json }: ShowArguments, drawFrame: DrawFrame): Output {
  return !ci && !json && canDraw() ? new ScreenOutput(drawFrame) : new PlainOutput({ steps: !ci });
}

/** Whether there is a terminal, and whoever sits there likes colours. */
function canDraw(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}
