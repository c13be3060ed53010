import type { Clock, ClockTimer } from '../../clock.ts';
import { LeaseholdError } from '../../errors.ts';
import { createTermSignal } from '../../lease/term-signal.ts';
import type { Claim } from '../claim.ts';
import type { SqlClient } from '../client.ts';
import type { Fate, SettleOptions } from '../fate.ts';
import type { SetValues } from '../set-values.ts';
import type { Job } from './job.ts';

/** How a handler ended. */
export type HandlerEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

export interface RowRunOptions<Row extends object> {
  readonly clock: Clock;
  readonly claim: Claim<Row>;
  readonly row: Row;
  readonly attempt: number | null;
  /** Infinity for none. */
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly handler: (row: Row, job: Job<Row>) => unknown;
  /** The handler went on for the grace time after its signal had aborted for this reason: nobody waits for it any more. */
  readonly onStuck: (reason: unknown) => void;
}

/** One handler at work on one row. */
export class RowRun<Row extends object> implements Job<Row> {
  readonly claimId: string;
  readonly attempt: number | null;
  readonly #options: RowRunOptions<Row>;
  readonly #startedAt: number;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;
  #abortReason: LeaseholdError | null = null;
  #timer: ClockTimer | null = null;
  #state: 'running' | 'stuck' | 'ended' = 'running';
  #finalized: Fate | null = null;

  constructor(options: RowRunOptions<Row>) {
    this.#options = options;
    this.claimId = options.claim.id;
    this.attempt = options.attempt;
    this.#startedAt = options.clock.monotonic();
  }

  get elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#startedAt;
  }

  get timeLeftMs(): number {
    return this.#abortReason === null ? Math.max(this.#options.timeoutMs - this.elapsedMs, 0) : 0;
  }

  /** Why the signal aborted, whether anybody has looked at it or not. */
  get abortReason(): LeaseholdError | null {
    return this.#abortReason;
  }

  get isStuck(): boolean {
    return this.#state === 'stuck';
  }

  /** What became of the row when the handler finished it itself; null where it has not. */
  get finalized(): Fate | null {
    return this.#finalized;
  }

  /** Made when it is first asked for: most handlers are over before anybody could abort them. */
  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    const leased = this.#options.claim.signalOf(this.#options.row);
    const look = (): void => {
      if (leased.aborted) this.abort(leased.reason as LeaseholdError);
    };
    this.#controller = new AbortController();
    this.#signal = createTermSignal(this.#controller, look);
    leased.addEventListener('abort', look, { once: true });
    look();
    if (this.#abortReason !== null) this.#controller.abort(this.#abortReason);
    return this.#signal;
  }

  /** Runs the handler to its end, however late that is; never rejects. */
  async run(): Promise<HandlerEnd> {
    const { handler, row, timeoutMs } = this.#options;
    if (timeoutMs !== Number.POSITIVE_INFINITY) this.#setTimer(() => this.abort(timeoutError(timeoutMs)), timeoutMs);
    let end: HandlerEnd;
    try {
      end = { kind: 'returned', value: await handler(row, this) };
    } catch (error) {
      end = { kind: 'threw', error };
    }
    if (this.#state === 'running') this.#state = 'ended';
    this.#timer?.cancel();
    return end;
  }

  /** Aborts the signal, once, and gives the handler the grace time to heed it. */
  abort(reason: LeaseholdError): void {
    if (this.#abortReason !== null || this.#state !== 'running') return;
    this.#abortReason = reason;
    // The timer first: a listener of the signal may end the handler, or look at the time that is left.
    this.#setTimer(() => this.#giveUp(reason), this.#options.graceMs);
    this.#controller?.abort(reason);
  }

  async finalize(client: SqlClient, set?: SetValues<Row>, options: Pick<SettleOptions, 'onLost'> = {}): Promise<Fate> {
    const { onLost = 'throw' } = options;
    const fate = await this.#options.claim.finalize(this.#options.row, set, { client, onLost });
    this.#finalized = fate;
    return fate;
  }

  #giveUp(reason: unknown): void {
    if (this.#state !== 'running') return;
    this.#state = 'stuck';
    this.#options.onStuck(reason);
  }

  #setTimer(callback: () => void, ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(callback, ms);
  }
}

function timeoutError(timeoutMs: number): LeaseholdError {
  const message = `the handler took longer than its timeout of ${timeoutMs} ms; heed job.signal, or give it more time with \`timeout\`.`;
  return new LeaseholdError('LEASEHOLD_ROW_TIMEOUT', message);
}
