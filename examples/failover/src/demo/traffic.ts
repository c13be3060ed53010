import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { CopyProcess } from './copy-process.ts';

/** The answer to one request, or why there was none. */
export interface Answer {
  readonly asked: string;
  readonly status: number | null;
  /** Who ran it, where it ran. */
  readonly by: string | null;
  readonly token: number | null;
  readonly retryAfter: number | null;
  /** On the demo's monotonic clock. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

const PAUSE_MS = 100;
const PATIENCE_MS = 1_000;

/** Asks one copy after the other for what only the holder answers, one request at a time, as users behind a load balancer do. */
export class Traffic {
  readonly #cluster: Cluster;
  readonly #signal: AbortSignal;
  #turn = 0;
  readonly answers: Answer[] = [];

  constructor(cluster: Cluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  get last(): Answer | undefined {
    return this.answers.at(-1);
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const copy = this.#next();
      if (copy !== undefined) this.answers.push(await ask(copy, this.#signal));
      await sleep(PAUSE_MS, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  #next(): CopyProcess | undefined {
    const { running } = this.#cluster;
    this.#turn += 1;
    return running[this.#turn % Math.max(running.length, 1)];
  }
}

export async function ask(copy: CopyProcess, signal: AbortSignal): Promise<Answer> {
  const asked = { asked: copy.label, askedAt: performance.now() };
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const answer = await fetch(`${copy.origin}/maintenance/report`, { signal: patience });
    const { by = null, token } = (await answer.json()) as { by?: string; token?: string };
    const retryAfter = numberOrNull(answer.headers.get('retry-after') ?? undefined);
    return { ...asked, status: answer.status, by, token: numberOrNull(token), retryAfter, answeredAt: performance.now() };
  } catch {
    return { ...asked, status: null, by: null, token: null, retryAfter: null, answeredAt: performance.now() };
  }
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
