import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CopyState, FromCopy, LateWrite, ToCopy } from './messages.ts';
import type { Reaper } from '../../../../test/support/reaper.ts';

export type Phase = 'starting' | 'running' | 'stopping' | 'frozen' | 'gone';

export interface CopyOptions {
  readonly label: string;
  readonly connectionString: string;
  readonly reaper: Reaper;
  /** Called at the moment that the copy says it has acquired the role. */
  readonly onAcquired: (copy: CopyProcess, token: number) => void;
}

const SCRIPT = fileURLToPath(new URL('copy.ts', import.meta.url));
const KEPT_OUTPUT = 4_000;

/** One copy of the application, in a process of its own, which may be restarted. */
export class CopyProcess {
  readonly label: string;
  readonly #options: CopyOptions;
  #child: ChildProcess | null = null;
  #output = '';
  phase: Phase = 'gone';
  /** How the last process ended. */
  ending = '';
  origin: string | null = null;
  state: CopyState | null = null;
  hasTakenTerm = false;
  lateWrite: LateWrite | null = null;

  constructor(options: CopyOptions) {
    this.label = options.label;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What the last process wrote, to explain a failure. */
  get output(): string {
    return this.#output;
  }

  /** A process group of its own: a Ctrl-C in the terminal is for the demo, which then ends its copies. */
  start(): void {
    Object.assign(this, { phase: 'starting', ending: '', origin: null, state: null, hasTakenTerm: false, lateWrite: null });
    this.#output = '';
    const { connectionString, label, reaper } = this.#options;
    const env = { ...process.env, DATABASE_URL: connectionString, COPY: label, PORT: '0', LOG_LEVEL: 'warn' };
    const child = fork(SCRIPT, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    reaper.watch(child);
    child.on('message', (message: FromCopy) => this.#hear(message));
    child.on('error', (error) => this.#note(`${error.message}\n`));
    child.once('exit', (code, signal) => this.#ended(child, signal ?? `code ${code}`));
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => this.#note(String(chunk)));
  }

  #hear(message: FromCopy): void {
    if (message.kind === 'state') this.state = message.state;
    else if (message.kind === 'acquired') this.#options.onAcquired(this, message.token);
    else if (message.kind === 'term-taken') this.hasTakenTerm = true;
    else if (message.kind === 'late-write') this.lateWrite = message.result;
    else {
      this.origin = message.origin;
      this.phase = 'running';
    }
  }

  #note(text: string): void {
    this.#output = (this.#output + text).slice(-KEPT_OUTPUT);
  }

  #ended(child: ChildProcess, how: string): void {
    if (child !== this.#child) return;
    Object.assign(this, { phase: 'gone', ending: how, state: null, origin: null });
    this.#child = null;
  }

  tell(message: ToCopy): void {
    this.#child?.send(message);
  }

  /** Asks it to end by itself. */
  stop(): void {
    this.phase = 'stopping';
    this.#child?.kill('SIGTERM');
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
    this.phase = 'frozen';
  }

  thaw(): void {
    this.phase = 'running';
    this.#child?.kill('SIGCONT');
  }
}
