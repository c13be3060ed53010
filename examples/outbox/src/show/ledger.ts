import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readQueue, type TargetState } from '../queue-state.ts';

const POLL_MS = 50;

/** Looks into PostgreSQL how the queue is, and who holds what: the processes are not asked. */
export class Ledger {
  targets: readonly TargetState[] = [];
  /** Number of the look that `targets` is from. */
  #seen = 0;
  #looks = 0;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const look = (this.#looks += 1);
      // The tables are made by the first process.
      const targets = await readQueue(this.#pool).catch(() => null);
      if (targets !== null) {
        this.targets = targets;
        this.#seen = look;
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  target(role: string | null): TargetState | undefined {
    return this.targets.find((target) => target.role === role);
  }

  /** Label of the process that holds the role. */
  holder(role: string): string | undefined {
    return labelOf(this.target(role)?.holder);
  }

  delivered(role: string): number {
    return this.target(role)?.delivered ?? 0;
  }

  sum(what: 'due' | 'leased' | 'waiting' | 'delivered' | 'dead'): number {
    return this.targets.reduce((sum, target) => sum + target[what], 0);
  }

  /** Whether nothing is left to deliver, by a look that began after this call: what was seen before says nothing of what came since. */
  emptyFromNow(): () => boolean {
    const known = this.#looks;
    return () => this.#seen > known && this.sum('due') + this.sum('leased') + this.sum('waiting') === 0;
  }
}

/** An instance id is its label and a random suffix. */
export function labelOf(instance: string | null | undefined): string | undefined {
  return instance?.slice(0, instance.lastIndexOf('-'));
}
