import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';

export interface Answer {
  /** Label of the process that was asked. */
  readonly asked: string;
  /** Of the one that had the device; null where nobody sent the command. */
  readonly by: string | null;
  /** Null for a connection that broke. */
  readonly status: number | null;
}

export interface TrafficOptions {
  readonly fleet: Fleet;
  readonly devices: readonly string[];
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 100;
const PATIENCE_MS = 3_000;
/** A machine that is busy with something else is not given ever more to do. */
const MOST_AT_ONCE = 5;

/** Sends commands for any device to any process, as a load balancer does that knows nothing of owners. */
export class Traffic {
  readonly answers: Answer[] = [];
  readonly #options: TrafficOptions;
  readonly #underway = new Set<Promise<void>>();

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (this.#underway.size < MOST_AT_ONCE) this.#send();
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(this.#underway);
  }

  /** Commands that the process brought to an owner elsewhere. */
  forwardedBy(label: string): number {
    return this.answers.filter(({ asked, by }) => asked === label && by !== null && by !== label).length;
  }

  #send(): void {
    const { fleet, devices } = this.#options;
    const member = this.#one(fleet.running);
    const device = this.#one(devices);
    if (member === undefined || device === undefined) return;
    const underway = this.#ask(`${member.origin}/devices/${device}/commands/${randomUUID()}`, member.label).finally(() =>
      this.#underway.delete(underway),
    );
    this.#underway.add(underway);
  }

  #one<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#options.random() * all.length)];
  }

  async #ask(url: string, asked: string): Promise<void> {
    try {
      const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(PATIENCE_MS) });
      const { by = null } = (await answer.json()) as { by?: string };
      this.answers.push({ asked, by: answer.ok ? by : null, status: answer.status });
    } catch {
      this.answers.push({ asked, by: null, status: null });
    }
  }
}
