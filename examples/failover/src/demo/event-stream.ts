import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { CopyProcess } from './copy-process.ts';

export interface SeenEvent {
  /** The copy that the stream was opened on. */
  readonly through: string;
  /** The copy that sent it. */
  readonly by: string;
  readonly token: number;
  readonly at: number;
}

const RECONNECT_MS = 100;

/** One reader of the holder's events. It connects to a copy that does not hold, and again whenever its stream ends or breaks. */
export class EventReader {
  readonly #cluster: Cluster;
  readonly #signal: AbortSignal;
  #turn = 0;
  readonly events: SeenEvent[] = [];
  through: string | null = null;

  constructor(cluster: Cluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  get last(): SeenEvent | undefined {
    return this.events.at(-1);
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const copy = this.#bystander();
      if (copy !== undefined) await this.#read(copy).catch(() => {});
      this.through = null;
      await sleep(RECONNECT_MS, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  #bystander(): CopyProcess | undefined {
    const { holder, bystanders } = this.#cluster;
    this.#turn += 1;
    return holder === undefined ? undefined : bystanders[this.#turn % Math.max(bystanders.length, 1)];
  }

  async #read(copy: CopyProcess): Promise<void> {
    const headers = { accept: 'text/event-stream' };
    const answer = await fetch(`${copy.origin}/maintenance/events`, { headers, signal: this.#signal });
    if (!answer.ok || answer.body === null) return;
    this.through = copy.label;
    let rest = '';
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) this.#take(copy, event);
    }
  }

  #take(copy: CopyProcess, event: string): void {
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (data === undefined) return;
    const { by, token } = JSON.parse(data) as { by: string; token: string };
    this.events.push({ through: copy.label, by, token: Number(token), at: performance.now() });
  }
}
