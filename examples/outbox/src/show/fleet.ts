import { fileURLToPath } from 'node:url';
import type { Reaper } from '../../../../test/support/reaper.ts';
import { Copy } from '../../../run/src/copy.ts';

/** One process of the application, which may be started again. */
export interface Member {
  readonly label: string;
  readonly copy: Copy;
  phase: 'starting' | 'running' | 'stopping' | 'gone';
  origin: string;
}

export interface FleetOptions {
  readonly connectionString: string;
  readonly reaper: Reaper;
}

const SERVER = fileURLToPath(new URL('../server.ts', import.meta.url));
const KEPT_LINES = 20;

/** The two processes. */
export class Fleet {
  readonly members: readonly [Member, Member];
  /** The last that they wrote, to explain a failure. */
  readonly #lines: string[] = [];

  constructor(options: FleetOptions) {
    this.members = [this.#create('copy-A', options), this.#create('copy-B', options)];
  }

  get running(): Member[] {
    return this.members.filter(({ phase }) => phase === 'running');
  }

  named(label: string | undefined): Member | undefined {
    return this.members.find((member) => member.label === label);
  }

  other(member: Member): Member {
    const [first, second] = this.members;
    return member === first ? second : first;
  }

  /** @throws {Error} when it ends before it takes part. */
  async start(member: Member): Promise<void> {
    member.phase = 'starting';
    const origin = await member.copy.start();
    if (origin === null) throw new Error(`${member.label} did not start:\n${this.#lines.join('\n')}`);
    Object.assign(member, { origin, phase: 'running' });
  }

  /** From here on no customer goes there. Resolves when it is gone. */
  async end(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    member.phase = 'stopping';
    await member.copy.end(signal);
    member.phase = 'gone';
  }

  async endAll(): Promise<void> {
    await Promise.all(this.members.map((member) => this.end(member, 'SIGKILL')));
  }

  #create(label: string, { connectionString, reaper }: FleetOptions): Member {
    const args = ['--conditions=@leasehold/source', SERVER];
    const print = (line: string): void => this.#note(line);
    const copy = new Copy({ label, port: 0, connectionString, args, reaper, print });
    return { label, copy, phase: 'gone', origin: '' };
  }

  #note(line: string): void {
    this.#lines.push(line);
    this.#lines.splice(0, this.#lines.length - KEPT_LINES);
  }
}
