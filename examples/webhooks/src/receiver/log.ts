/** A request, and what became of it. Times are on the monotonic clock of the receiver, in milliseconds. */
export interface Visit {
  /** Its idempotency key. */
  readonly key: string;
  /** Which attempt the worker says that it is. */
  readonly attempt: number;
  /** Label of the worker. */
  readonly by: string;
  readonly at: number;
  /** How it was answered, in words. */
  readonly answer: string;
  readonly ok: boolean;
  /** When it was answered; null when it was left waiting. */
  readonly answeredAt: number | null;
  /** Not to come again before; null where nothing was said. */
  readonly notBefore: number | null;
}

/** Every request that the receiver got. */
export class VisitLog {
  readonly visits: Visit[] = [];
  /** How much too early the requests were that came before the time that was asked for, in milliseconds. */
  readonly early: number[] = [];
  /** Answers at which the worker hung up: it had lost patience, or was killed. */
  readonly unheard = new Set<Visit>();
  readonly #notBefore = new Map<string, number>();
  readonly #byKey = new Map<string, Visit[]>();

  /** How many requests have been here with that key, answered ones alone. */
  countOf(key: string): number {
    return this.#byKey.get(key)?.length ?? 0;
  }

  /** As soon as it is there: whether it should have come later is decided before anything is answered. */
  arrive(key: string, at: number): void {
    const missing = (this.#notBefore.get(key) ?? at) - at;
    if (missing > 0) this.early.push(missing);
  }

  add(visit: Visit): void {
    this.visits.push(visit);
    const others = this.#byKey.get(visit.key);
    if (others === undefined) this.#byKey.set(visit.key, [visit]);
    else others.push(visit);
    if (visit.notBefore !== null) this.#notBefore.set(visit.key, visit.notBefore);
  }

  /** The answer was heard by nobody: nobody can heed it. */
  hungUp(visit: Visit): void {
    this.unheard.add(visit);
    this.#notBefore.delete(visit.key);
  }

  /** The requests of one delivery, in order. */
  of(key: string): readonly Visit[] {
    return this.#byKey.get(key) ?? [];
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** Requests since then. */
  since(at: number): number {
    const first = this.visits.findLastIndex((visit) => visit.at < at);
    return this.visits.length - 1 - first;
  }
}
