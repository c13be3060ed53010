import { LeaseholdError } from '../../errors.ts';
import type { Announcer } from './announce.ts';
import type { Counters } from './counters.ts';
import type { LiveClaim } from './live-claim.ts';
import type { RowlessOutcome } from './outcome.ts';
import type { Prefetch } from './prefetch.ts';
import type { ResolvedWorkOptions } from './resolve-work-options.ts';
import { type HandlerEnd, RowRun } from './row-run.ts';
import { type VerdictContext, verdictOnError, verdictOnValue } from './verdict.ts';
import type { WorkSource } from './work-source.ts';

/** A row that was claimed, and with which claim. */
export interface ClaimedEntry<Row extends object> {
  readonly row: Row;
  readonly live: LiveClaim<Row>;
}

export interface RowWorkOptions<Row extends object> {
  readonly source: Pick<WorkSource<Row>, 'attempts' | 'clock'>;
  readonly options: ResolvedWorkOptions<Row>;
  readonly counters: Counters;
  readonly announcer: Announcer;
  readonly prefetch: Prefetch;
}

/** Takes one row from the queue to its outcome. */
export class RowWork<Row extends object> {
  readonly #with: RowWorkOptions<Row>;
  readonly #runs = new Set<RowRun<Row>>();

  constructor(options: RowWorkOptions<Row>) {
    this.#with = options;
  }

  get stuck(): number {
    let count = 0;
    for (const run of this.#runs) if (run.isStuck) count += 1;
    return count;
  }

  /** Resolves when the handler has ended, which may be long after its row was given up; never rejects. */
  async work(entry: ClaimedEntry<Row>): Promise<void> {
    const { row, live } = entry;
    const { owns } = this.#with.options;
    if (!live.claim.isLeased(row) || (owns !== null && !owns(row))) return this.release(entry);
    const run = this.#runOf(entry);
    this.#runs.add(run);
    const end = await run.run();
    this.#runs.delete(run);
    this.#with.prefetch.observe(run.elapsedMs);
    if (run.isStuck) this.#with.announcer.unstuck(live.claim.id);
    else this.#settle(entry, run, this.#outcomeOf(entry, run, end));
  }

  /** Hands back a row that no handler has seen. */
  release(entry: ClaimedEntry<Row>): void {
    this.#settle(entry, null, { outcome: 'release', refund: true });
  }

  abortAll(): void {
    const reason = new LeaseholdError(
      'LEASEHOLD_WORKER_STOPPED',
      'the worker is stopping; its row is handed back when the handler throws.',
    );
    for (const run of this.#runs) run.abort(reason);
  }

  #runOf(entry: ClaimedEntry<Row>): RowRun<Row> {
    const { source, options } = this.#with;
    const { row, live } = entry;
    const run: RowRun<Row> = new RowRun<Row>({
      row,
      claim: live.claim,
      clock: source.clock,
      attempt: this.#attemptOf(row),
      timeoutMs: options.timeoutMs,
      graceMs: options.graceMs,
      handler: options.handler,
      onStuck: (reason) => this.#giveUp(entry, run, reason),
    });
    return run;
  }

  #attemptOf(row: Row): number | null {
    const { attempts } = this.#with.source;
    // A bigint column arrives as a string.
    const attempt = attempts === null ? Number.NaN : Number(Reflect.get(row, attempts.column) ?? Number.NaN);
    return Number.isInteger(attempt) ? attempt : null;
  }

  /** Null when there is nothing to write. */
  #outcomeOf(entry: ClaimedEntry<Row>, run: RowRun<Row>, end: HandlerEnd): RowlessOutcome | null {
    const { announcer, counters } = this.#with;
    if (run.abortReason?.code === 'LEASEHOLD_ROW_TIMEOUT') counters.timedOut += 1;
    if (end.kind === 'threw') {
      // It was interrupted, which is no fault of the row: the attempt is refunded.
      if (run.abortReason?.code === 'LEASEHOLD_WORKER_STOPPED') return { outcome: 'release', refund: true };
      return this.#fail(entry, run, end.error);
    }
    if (run.finalized !== null) {
      counters.settled('done', run.finalized);
      announcer.settled(run.claimId, entry.row, { outcome: 'done', fate: run.finalized });
      if (end.value !== undefined && end.value !== null) announcer.settledTwice(run.claimId);
      return null;
    }
    try {
      return verdictOnValue(end.value, this.#contextOf(entry, run));
    } catch (error) {
      return this.#fail(entry, run, error);
    }
  }

  #fail(entry: ClaimedEntry<Row>, run: RowRun<Row>, error: unknown): RowlessOutcome {
    const { announcer, counters } = this.#with;
    counters.failed += 1;
    const verdict = verdictOnError(error, this.#contextOf(entry, run));
    announcer.failed(run.claimId, entry.row, { attempt: run.attempt, error, outcome: verdict.outcome });
    return verdict;
  }

  /** The handler goes on. When the process is about to end, its row had better stay leased for a while: it may still be at it. */
  #giveUp(entry: ClaimedEntry<Row>, run: RowRun<Row>, reason: unknown): void {
    const { announcer, counters } = this.#with;
    announcer.stuck(run.claimId, entry.row, reason);
    const isStopping = run.abortReason?.code === 'LEASEHOLD_WORKER_STOPPED';
    if (isStopping) counters.abandoned += 1;
    if (run.abortReason?.code === 'LEASEHOLD_ROW_TIMEOUT') counters.timedOut += 1;
    this.#settle(entry, run, isStopping || run.finalized !== null ? null : this.#fail(entry, run, reason));
  }

  #settle({ row, live }: ClaimedEntry<Row>, run: RowRun<Row> | null, outcome: RowlessOutcome | null): void {
    if (outcome === null) return live.leave();
    const entry = { row, live };
    const insteadOf = (error: unknown): RowlessOutcome[] => {
      const retry = verdictOnError(error, this.#contextOf(entry, run));
      return [retry, { ...retry, set: {} }, { outcome: 'release', refund: false }];
    };
    live.settle({ row, outcome, since: this.#with.source.clock.monotonic(), insteadOf });
  }

  #contextOf({ row }: ClaimedEntry<Row>, run: RowRun<Row> | null): VerdictContext<Row> {
    const { source, options } = this.#with;
    const { backoff, errorColumn } = options;
    const attempt = run === null ? this.#attemptOf(row) : run.attempt;
    return { row, attempt, maxAttempts: source.attempts?.max ?? Number.POSITIVE_INFINITY, backoff, errorColumn };
  }
}
