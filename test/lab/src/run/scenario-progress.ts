const EVERY_MS = 1_000;
/** Where nobody watches, a line is for the record. */
const LINE_EVERY = 15;

/** Tells how a scenario goes: one line that changes on a terminal, a line now and then elsewhere. */
export class Progress {
  readonly #line: () => string;
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;

  constructor(line: () => string) {
    this.#line = line;
    this.#timer = setInterval(() => this.#tick(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (process.stderr.isTTY) process.stderr.write('\n');
  }

  #tick(): void {
    this.#ticks += 1;
    const { isTTY } = process.stderr;
    if (isTTY) process.stderr.write(`\r${this.#line()}\u001B[K`);
    else if (this.#ticks % LINE_EVERY === 1) process.stderr.write(`${this.#line()}\n`);
  }
}
