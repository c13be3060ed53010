import { LeaseholdError } from '../errors.ts';
import type { SqlClient } from './client.ts';
import type { Fate } from './fate.ts';
import { SettleAttempts } from './settle-attempts.ts';
import { settleAlikeSql, type SettledAlike } from './statements/settle-alike.ts';
import type { SettleItem } from './statements/settle-item.ts';
import { restOf, type SettlePart, splitByShape } from './statements/settle-parts.ts';
import { settleSql } from './statements/settle.ts';
import type { TableDescription } from './table-description.ts';

export interface SettlerOptions {
  readonly description: TableDescription;
  readonly token: string;
  readonly statementTimeoutMs: number;
}

export interface SettleRun {
  readonly client: SqlClient;
  /** How long a failure that passes is tried again, in milliseconds: never within a transaction of the caller's, which it has ended. */
  readonly retryForMs: number;
  /** Hears the fate of each item, by its place in the list, as soon as it is known. */
  readonly tell: (place: number, fate: Fate) => void;
}

interface Answer {
  readonly fate: Fate;
  readonly still_live: boolean;
}

/** Settles the rows of one claim. */
export class Settler {
  readonly #options: SettlerOptions;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /**
   * @throws {LeaseholdError} LEASEHOLD_STORE_TIMEOUT; LEASEHOLD_ROW_STILL_LIVE when a row was finished that its filter does not
   * take for finished; else what the driver rejects with, when it lasts.
   */
  async settle(items: readonly SettleItem[], run: SettleRun): Promise<void> {
    const { description, token, statementTimeoutMs } = this.#options;
    const { clock } = description.table;
    let isStillLive = false;
    for (const part of splitByShape(items)) {
      const attempts = new SettleAttempts({ ...run, token, clock, statementTimeoutMs });
      const told = await this.#settlePart(part, run, attempts);
      isStillLive ||= told;
    }
    if (isStillLive) throw stillLiveError(description);
  }

  /**
   * Answers whether a row is still live that should not be. Rows that are written alike are written first, and those that were are
   * told at once: asked again, a row that was freed tells nothing of who freed it.
   */
  async #settlePart(part: SettlePart, run: SettleRun, attempts: SettleAttempts): Promise<boolean> {
    const { description } = this.#options;
    const [shape, ...more] = part.shapes;
    const statementOf = shape === undefined || more.length > 0 ? null : settleAlikeSql(description, shape);
    if (statementOf === null) return this.#settleMixture(part, run, attempts);
    const [answer] = await attempts.run<SettledAlike>(statementOf);
    // A client that answers nothing has not said that anything was written.
    if (answer === undefined) return this.#settleMixture(part, run, attempts);
    const rest = restOf(part, JSON.parse(answer.others ?? '[]') as number[]);
    const others = new Set(rest.places);
    for (const place of part.places) if (!others.has(place)) run.tell(place, 'done');
    const isLive = answer.still_live;
    return rest.items.length === 0 ? isLive : (await this.#settleMixture(rest, run, attempts)) || isLive;
  }

  async #settleMixture(part: SettlePart, run: SettleRun, attempts: SettleAttempts): Promise<boolean> {
    const rows = await attempts.run<Answer>((request) => settleSql(this.#options.description, part, request));
    for (const [index, { fate }] of rows.entries()) run.tell(part.places[index] ?? -1, fate);
    return rows.some(({ still_live: isLive }) => isLive);
  }
}

function stillLiveError({ table }: TableDescription): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_ROW_STILL_LIVE',
    `a row of ${table.table.quoted} was finished or buried, and "${table.live}" is still true for it: it will be claimed again. ` +
      'Have `done`, `dead` or the call itself write what makes it false.',
  );
}
