import { plain } from './style.ts';

/** Where it is told what happens and what was found. */
export interface Output {
  /** What happens next, and for whoever has never seen it, what that means. */
  step(title: string, explanation?: string): void;
  statement(ok: boolean, text: string): void;
  /** How it looks now, for those who do not see it anyway. */
  picture(draw: () => readonly string[]): void;
  /** Gives the terminal back. */
  end(): void;
}

/** Lines alone: without a terminal, with NO_COLOR, and in CI, where every line is a check. */
export class PlainOutput implements Output {
  readonly #steps: boolean;

  constructor({ steps }: { readonly steps: boolean }) {
    this.#steps = steps;
  }

  step(title: string, explanation = ''): void {
    if (this.#steps) process.stdout.write(`\n${[title, explanation].filter((line) => line !== '').join('\n')}\n`);
  }

  statement(ok: boolean, text: string): void {
    process.stdout.write(`${ok ? 'ok' : 'FAILED'} ${text}\n`);
  }

  picture(draw: () => readonly string[]): void {
    if (this.#steps) process.stdout.write(`${plain(draw().join('\n'))}\n`);
  }

  end(): void {}
}
