import { BenchProcess } from '../support/processes/start.ts';
import { progress } from '../support/progress.ts';
import type { Contestant } from './contestants.ts';
import type { Slot } from './measure.ts';
import type { Effort } from './options.ts';

/** By the name of who did it; a place for each round, and null in those that it sat out. */
export type Slots = Readonly<Record<string, readonly (Slot | null)[]>>;

/** Of so many rounds, who does not take part in all has the first. */
const SOME_ROUNDS = 4;
const PROGRAM = new URL('processes/contestant.ts', import.meta.url);

/** All contestants, each in a process of its own and on a database of its own. Only one is at work at a time. */
export class Field implements Disposable {
  readonly #processes = new Map<Contestant, BenchProcess>();

  async enter(contestant: Contestant, connectionString: string): Promise<void> {
    const started = new BenchProcess(PROGRAM, { cpus: null, args: [contestant.name, connectionString] });
    this.#processes.set(contestant, started);
    await started.call('open');
    progress(`${contestant.name} is ready`);
  }

  /** The first round is not counted: code is compiled, and pages are written for the first time. */
  async measure(effort: Effort): Promise<Slots> {
    const slots: Record<string, (Slot | null)[]> = {};
    const until = performance.now() + effort.roundsMs;
    await this.#round(0, effort);
    for (let round = 1; round <= effort.fewestRounds || performance.now() < until; round += 1) {
      for (const [name, slot] of await this.#round(round, effort)) (slots[name] ??= []).push(slot);
    }
    return slots;
  }

  /** Forward and back in turn: whoever is always measured after a heavy one would have its mess. */
  async #round(round: number, effort: Effort): Promise<[string, Slot | null][]> {
    const order = [...this.#processes];
    if (round % 2 === 0) order.reverse();
    const slots: [string, Slot | null][] = [];
    for (const [contestant, started] of order) {
      const rows = rowsFor(contestant, round, effort);
      if (rows > 0) progress(`round ${round}: ${contestant.name}`);
      slots.push([contestant.name, rows === 0 ? null : await started.call<Slot>('run', rows)]);
    }
    return slots;
  }

  [Symbol.dispose](): void {
    for (const started of this.#processes.values()) started[Symbol.dispose]();
  }
}

export function rowsFor({ share, rounds }: Contestant, round: number, { rows }: Effort): number {
  return rounds === 'all' || round % SOME_ROUNDS === 1 ? rows * share : 0;
}
