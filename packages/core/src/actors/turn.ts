import { AsyncLocalStorage } from 'node:async_hooks';

/** Where the messages of one key are worked through, one turn at a time. */
export interface Desk {
  readonly turn: Turn | null;
}

/** One message that is being handled, with the desks that its handler waits for an answer of. */
export class Turn {
  readonly desk: Desk;
  readonly #waitsFor = new Map<Promise<unknown>, Desk>();

  constructor(desk: Desk) {
    this.desk = desk;
  }

  get waitsFor(): Iterable<Desk> {
    return this.#waitsFor.values();
  }

  wait(desk: Desk, answer: Promise<unknown>): void {
    this.#waitsFor.set(answer, desk);
    const forget = (): void => void this.#waitsFor.delete(answer);
    answer.then(forget, forget);
  }

  /** Runs `handle` so that {@link currentTurn} answers this turn in all that it calls and awaits. */
  run<T>(handle: () => T): T {
    return turns.run(this, handle);
  }
}

const turns = new AsyncLocalStorage<Turn>();

/** The turn that this code runs in, while it lasts: what a handler left behind runs in none. */
export function currentTurn(): Turn | null {
  const turn = turns.getStore();
  return turn !== undefined && turn.desk.turn === turn ? turn : null;
}

/** Whether the desk waits, through however many others, for the turn that would wait for it. */
export function waitsInCircle(turn: Turn, desk: Desk): boolean {
  const seen = new Set([desk]);
  for (const each of seen) {
    if (each === turn.desk) return true;
    for (const next of each.turn?.waitsFor ?? []) seen.add(next);
  }
  return false;
}
