/** Where the demo says what it does and what it found. */
export interface Output {
  /** What happens next. */
  step(title: string): void;
  statement(ok: boolean, text: string): void;
  /** Gives the terminal back. */
  end(): void;
}

/** Lines alone: without a terminal, with NO_COLOR, and in CI, where every line is a check. */
export class PlainOutput implements Output {
  readonly #steps: boolean;

  constructor({ steps }: { readonly steps: boolean }) {
    this.#steps = steps;
  }

  step(title: string): void {
    if (this.#steps) process.stdout.write(`\n${title}\n`);
  }

  statement(ok: boolean, text: string): void {
    process.stdout.write(`${ok ? 'ok' : 'FAILED'} ${text}\n`);
  }

  end(): void {}
}
