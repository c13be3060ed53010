import type { Belief, Span, TermEvent, WorkerLog } from '../checker/history.ts';
import { type HeldRole, type Line, roleName } from './line.ts';

interface GrowingBelief {
  readonly belief: Belief;
  last: Span;
}

/** Folds the lines of one process, in order, into what it believed and when. */
export class LogFolder {
  #instance = '';
  #ended = false;
  #refused = { all: 0, late: 0 };
  readonly #events: TermEvent[] = [];
  readonly #wrong: string[] = [];
  readonly #beliefs = new Map<string, GrowingBelief>();
  /** Terms seen over, or announced as lost. To see one held after that is a violation. */
  readonly #over = new Set<string>();
  /** What the last complete look saw held. */
  #held = new Set<string>();

  add(line: Line): void {
    switch (line.k) {
      case 'start':
        this.#instance = line.instance;
        return;
      case 'look':
        return this.#look(line, line.held);
      case 'claim':
        return line.held.forEach((held) => this.#see(held, line));
      case 'gain':
        return this.#term({ kind: 'gain', role: line.role, token: line.token, at: line.at, reason: null });
      case 'loss':
        return this.#term({ kind: 'loss', role: line.role, token: line.token, at: line.at, reason: line.reason });
      case 'refused':
        this.#refused = { all: this.#refused.all + 1, late: this.#refused.late + Number(line.late) };
        return;
      case 'wrong':
        return void this.#wrong.push(line.what);
      case 'end':
        this.#ended = true;
    }
  }

  finish(): WorkerLog {
    return {
      instance: this.#instance,
      ended: this.#ended,
      beliefs: [...this.#beliefs.values()].map(({ belief, last }) => ({ ...belief, last })),
      events: this.#events,
      refused: this.#refused,
      wrong: this.#wrong,
    };
  }

  #look(span: Span, held: readonly HeldRole[]): void {
    const seen = new Set(held.map((one) => this.#see(one, span)));
    for (const key of this.#held) if (!seen.has(key)) this.#over.add(key);
    this.#held = seen;
  }

  #see([index, token]: HeldRole, { from, to }: Span): string {
    const role = roleName(index);
    const key = `${role} ${token}`;
    const known = this.#beliefs.get(key);
    if (this.#over.delete(key)) this.#wrong.push(`${role}: token ${token} was held again after it was over`);
    if (known !== undefined) known.last = { from, to };
    else {
      const span = { from, to };
      this.#beliefs.set(key, { belief: { instance: this.#instance, role, token, first: span, last: span }, last: span });
    }
    return key;
  }

  #term(event: TermEvent): void {
    this.#events.push(event);
    if (event.kind === 'loss') this.#over.add(`${event.role} ${event.token}`);
  }
}
