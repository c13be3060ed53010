import { publish } from '../../diagnostics.ts';
import type { Logger } from '../../logger.ts';
import type { Claim } from '../claim.ts';
import type { OutcomeName } from '../fate.ts';
import { errorText } from '../storable.ts';

/** Says what a worker does, to subscribers and to the log. The log has no line for what goes well. */
export class Announcer {
  readonly #table: string;
  readonly #logger: Logger;
  #toldOfRefusal = false;

  constructor(table: string, logger: Logger) {
    this.#table = table;
    this.#logger = logger;
  }

  claimed(claim: Claim<object>, { asked, durationMs }: { readonly asked: number; readonly durationMs: number }): void {
    const { id, rows, buried } = claim;
    publish('leasehold:work.claimed', { table: this.#table, claim: id, asked, rows: rows.length, buried, durationMs });
  }

  settled(
    claim: string,
    row: object,
    { outcome, fate }: { readonly outcome: OutcomeName; readonly fate: 'done' | 'lost' | 'gone' },
  ): void {
    this.#toldOfRefusal = false;
    if (fate !== 'done') {
      this.#logger.warn(
        { table: this.#table, claim, outcome, fate },
        'a row was not this worker’s any more when it was to be settled',
      );
    }
    publish('leasehold:work.settled', { table: this.#table, claim, row, outcome, fate });
  }

  failed(
    claim: string,
    row: object,
    failure: { readonly attempt: number | null; readonly error: unknown; readonly outcome: OutcomeName },
  ): void {
    const { error, ...rest } = failure;
    const fields = { table: this.#table, claim, ...rest };
    const ended =
      failure.outcome === 'bury'
        ? 'a handler failed for the last time, and its row is put away'
        : 'a handler failed; its row is tried again later';
    this.#logger.warn({ ...fields, err: error }, ended);
    publish('leasehold:work.failed', { ...fields, error, row });
  }

  stuck(claim: string, row: object, error: unknown): void {
    this.#logger.error(
      { err: error, table: this.#table, claim },
      'a handler goes on in spite of its signal; its row is given up, and its slot stays taken until it ends',
    );
    publish('leasehold:work.stuck', { table: this.#table, claim, row, error });
  }

  unstuck(claim: string): void {
    this.#logger.info({ table: this.#table, claim }, 'a handler whose row was given up has ended; its slot is free');
  }

  /** Once until something is settled again: an outage refuses all of them. */
  refused(row: object, error: unknown): void {
    if (!this.#toldOfRefusal) {
      this.#logger.error(
        { err: error, table: this.#table },
        `the outcome of a row could not be written as it was: ${errorText(error, { maxLength: 200 })}`,
      );
    }
    this.#toldOfRefusal = true;
    publish('leasehold:work.refused', { table: this.#table, row, error });
  }

  settledTwice(claim: string): void {
    this.#logger.warn(
      { table: this.#table, claim },
      'a handler finished its row itself, and returned an outcome too: the first one counts',
    );
  }

  notDrained(running: number, unsettled: number): void {
    this.#logger.warn(
      { table: this.#table, running, unsettled },
      'the worker stopped with handlers that go on or outcomes that are not written; these rows are claimed again after their lease',
    );
  }

  hintFailed(error: unknown): void {
    this.#logger.warn({ err: error, table: this.#table }, 'the wake-up hint failed; new rows are found by asking');
  }
}
