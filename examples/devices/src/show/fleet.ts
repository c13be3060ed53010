import { fileURLToPath } from 'node:url';
import type { Reaper } from '../../../../test/support/reaper.ts';
import { Copy } from '../../../run/src/copy.ts';

type Phase = 'starting' | 'running' | 'stopping' | 'gone';

/** One process of the application. */
export interface Member {
  readonly letter: string;
  readonly label: string;
  readonly copy: Copy;
  phase: Phase;
  origin: string;
}

export interface FleetOptions {
  readonly connectionString: string;
  readonly gatewayPort: number;
  readonly reaper: Reaper;
}

const SERVER = fileURLToPath(new URL('../server.ts', import.meta.url));
const LETTERS = 'ABCDE';
const KEPT_LINES = 20;

/** All processes of the application, those that are gone included. */
export class Fleet {
  readonly members: Member[] = [];
  readonly #options: FleetOptions;
  /** The last that they wrote, to explain a failure. */
  readonly #lines: string[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get running(): Member[] {
    return this.members.filter(({ phase }) => phase === 'running');
  }

  get labels(): string[] {
    return this.running.map(({ label }) => label);
  }

  /** The next process, as soon as it takes part. @throws {Error} when it ends before. */
  async spawn(): Promise<Member> {
    const { connectionString, gatewayPort, reaper } = this.#options;
    const letter = LETTERS[this.members.length] ?? '?';
    const label = `copy-${letter}`;
    const copy = new Copy({
      label,
      port: 0,
      connectionString,
      args: ['--conditions=@leasehold/source', SERVER],
      env: { GATEWAY_PORT: String(gatewayPort) },
      reaper,
      print: (line) => this.#note(line),
    });
    const member: Member = { letter, label, copy, phase: 'starting', origin: '' };
    this.members.push(member);
    const origin = await copy.start();
    if (origin === null) throw new Error(`${label} did not start:\n${this.#lines.join('\n')}`);
    return Object.assign(member, { origin, phase: 'running' });
  }

  /** From here on nobody sends it anything more. Resolves when it is gone. */
  async end(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    member.phase = 'stopping';
    await member.copy.end(signal);
    member.phase = 'gone';
  }

  async endAll(): Promise<void> {
    await Promise.all(this.members.map((member) => this.end(member, 'SIGKILL')));
  }

  #note(line: string): void {
    this.#lines.push(line);
    this.#lines.splice(0, this.#lines.length - KEPT_LINES);
  }
}
