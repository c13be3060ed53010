import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { WorkerStats } from '@leasehold/core/work';
import type { Reaper } from '../../../../test/support/reaper.ts';
import { Copy } from '../../../run/src/copy.ts';

/** One worker process, which may be started again. */
export interface Member {
  readonly label: string;
  readonly copy: Copy;
  origin: string | null;
  /** What its processes said last, of each. */
  readonly stats: WorkerStats[];
}

export interface WorkersOptions {
  readonly connectionString: string;
  readonly reaper: Reaper;
}

const SERVER = fileURLToPath(new URL('../server.ts', import.meta.url));
const POLL_MS = 200;
const KEPT_LINES = 20;

export class Workers {
  readonly members: readonly Member[];
  /** The last that they wrote, to explain a failure. */
  readonly #lines: string[] = [];

  constructor({ connectionString, reaper }: WorkersOptions) {
    this.members = ['copy-A', 'copy-B'].map((label) => {
      const args = ['--conditions=@leasehold/source', SERVER];
      const print = (line: string): void => this.#note(line);
      return { label, copy: new Copy({ label, port: 0, connectionString, args, reaper, print }), origin: null, stats: [] };
    });
  }

  /** @throws {Error} when it ends before it works. */
  async start(member: Member): Promise<void> {
    const origin = await member.copy.start();
    if (origin === null) throw new Error(`${member.label} did not start:\n${this.#lines.join('\n')}`);
    member.stats.push(await statsOf(origin));
    member.origin = origin;
  }

  async end(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    member.origin = null;
    await member.copy.end(signal);
  }

  async endAll(): Promise<void> {
    await Promise.all(this.members.map((member) => this.end(member, 'SIGKILL')));
  }

  /** Asks each process how it gets on, until told to stop. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  async look(): Promise<void> {
    await Promise.all(this.members.map((member) => look(member)));
  }

  /** Over all processes that there were. */
  total(name: keyof WorkerStats): number {
    return this.members.reduce((sum, member) => sum + totalOf(member, name), 0);
  }

  #note(line: string): void {
    this.#lines.push(line);
    this.#lines.splice(0, this.#lines.length - KEPT_LINES);
  }
}

/** Over all its processes. */
export function totalOf({ stats }: Member, name: keyof WorkerStats): number {
  return stats.reduce((sum, one) => sum + one[name], 0);
}

async function look(member: Member): Promise<void> {
  const { origin } = member;
  if (origin === null) return;
  // One that is being killed does not answer; one that was started again meanwhile is another.
  const stats = await statsOf(origin).catch(() => null);
  if (stats !== null && member.origin === origin) member.stats.splice(-1, 1, stats);
}

async function statsOf(origin: string): Promise<WorkerStats> {
  const answer = await fetch(origin, { signal: AbortSignal.timeout(5_000) });
  return (await answer.json()) as WorkerStats;
}
