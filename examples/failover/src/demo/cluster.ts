import { CopyProcess } from './copy-process.ts';
import type { Reaper } from '../../../../test/support/reaper.ts';
import { until, type UntilOptions } from '../../../run/src/show/until.ts';

/** A term as the demo heard of it. */
export interface HeardTerm {
  readonly copy: CopyProcess;
  readonly token: number;
  /** On the demo's monotonic clock. */
  readonly at: number;
}

export interface ClusterOptions {
  readonly connectionString: string;
  readonly reaper: Reaper;
  readonly signal: AbortSignal;
}

const LABELS = ['copy-1', 'copy-2', 'copy-3'] as const;
const START_MS = 30_000;

/** The three copies. */
export class Cluster {
  readonly copies: readonly CopyProcess[];
  readonly terms: HeardTerm[] = [];
  readonly #signal: AbortSignal;

  constructor({ connectionString, reaper, signal }: ClusterOptions) {
    this.#signal = signal;
    const onAcquired = (copy: CopyProcess, token: number): void => {
      this.terms.push({ copy, token, at: performance.now() });
    };
    this.copies = LABELS.map((label) => new CopyProcess({ label, connectionString, reaper, onAcquired }));
  }

  get running(): CopyProcess[] {
    return this.copies.filter(({ phase }) => phase === 'running');
  }

  /** The copy that says it holds. */
  get holder(): CopyProcess | undefined {
    return this.running.find(({ state }) => state?.isHeld === true);
  }

  get bystanders(): CopyProcess[] {
    return this.running.filter((copy) => copy !== this.holder);
  }

  until<T>(look: () => T | undefined | false, what: string, timeoutMs: number): Promise<T> {
    return until(look, { what, timeoutMs, signal: this.#signal } satisfies UntilOptions);
  }

  /** The next term of another copy than this one. */
  takeoverFrom(copy: CopyProcess, timeoutMs: number): Promise<HeardTerm> {
    const known = this.terms.length;
    const taken = (): HeardTerm | undefined => this.terms.slice(known).find((term) => term.copy !== copy);
    return this.until(taken, `another copy taking over from ${copy.label}`, timeoutMs);
  }

  /** Starts what is not running, and waits until all three agree on the holder and on its address. */
  async startAll(): Promise<CopyProcess> {
    for (const copy of this.copies) if (copy.phase === 'gone') copy.start();
    try {
      return await this.until(() => this.#agreedHolder(), 'all three copies agreeing on the holder', START_MS);
    } catch (error) {
      const output = this.copies.map((copy) => copy.output).join('');
      throw output === '' ? error : new Error(`${(error as Error).message}\n${output}`, { cause: error });
    }
  }

  #agreedHolder(): CopyProcess | undefined {
    const { holder, running } = this;
    if (holder === undefined || running.length < this.copies.length) return undefined;
    const { label, origin } = holder;
    return running.every(({ state }) => state?.holder === label && state.holderAddress === origin) ? holder : undefined;
  }

  /** Ends all processes at once. */
  async end(): Promise<void> {
    for (const copy of this.copies) copy.kill();
    const gone = (): boolean => this.copies.every(({ phase }) => phase === 'gone');
    await until(gone, { what: 'the end of the copies', timeoutMs: 10_000, signal: new AbortController().signal });
  }
}
