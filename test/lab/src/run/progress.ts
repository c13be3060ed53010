import type { Fleet } from '../processes/fleet.ts';
import type { Bench } from '../verbs/verb.ts';
import type { Striker } from './striker.ts';

const EVERY_MS = 1_000;
/** Where nobody watches, a line is for the record. */
const LINE_EVERY = 15;

export interface ProgressOptions {
  readonly bench: Bench;
  readonly fleet: Fleet;
  readonly striker: Striker;
  readonly planned: number;
  readonly minutes: number;
}

/** Tells how the run goes: one line that changes on a terminal, a line now and then elsewhere. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#tick(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (process.stderr.isTTY) process.stderr.write('\n');
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    const { isTTY } = process.stderr;
    if (!isTTY && this.#ticks % LINE_EVERY !== 1) return;
    const line = await this.#line();
    process.stderr.write(isTTY ? `\r${line}\u001B[K` : `${line}\n`);
  }

  async #line(): Promise<string> {
    const { bench, fleet, striker, planned, minutes } = this.#options;
    const elapsed = clock(performance.now() - this.#startedAt);
    const held = (await bench.admin.holders()).size;
    const well = fleet.slots.filter((slot) => slot.isWell).length;
    const last = striker.struck.at(-1)?.kind ?? 'none yet';
    return (
      `${elapsed} of ${clock(minutes * 60_000)} · ${striker.struck.length} of ${planned} faults · last ${last} · ` +
      `${well} of ${fleet.slots.length} processes well · ${held} of ${bench.roles.length} roles held`
    );
  }
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
