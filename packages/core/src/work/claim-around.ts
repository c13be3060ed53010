import { LeaseholdError } from '../errors.ts';
import { isRefusal, isRefusedValue, isTransactionOver } from '../postgres/errors.ts';
import { type ByHalves, byHalves } from './by-halves.ts';
import type { ClaimedRow } from './claimed-row.ts';
import type { SqlClient } from './client.ts';
import { after, type Deadline, moment, timeLeft } from './deadline.ts';
import { claimedRows, type Found, type FoundRow, refOf } from './found-rows.ts';
import type { Ref, Refusal, RefusedRows } from './refused-rows.ts';
import { runStatement, type StatementLimits } from './run-statement.ts';
import type { Sql } from './sql.ts';
import { buryGivenSql, claimGivenSql, type ListedRow, listSql, type RowToBury } from './statements/claim-given.ts';
import type { ClaimRequest } from './statements/claim-request.ts';
import { errorText } from './storable.ts';
import type { TableDescription } from './table-description.ts';

/** For one call: enough to find the first refused row of 10,000, and some twenty where every row is refused. */
const MOST_STATEMENTS = 50;
/** So many are the fault of these rows. With more, and none that can be claimed, it is that of the table or of the options. */
const HARMLESS = 3;
const LONGEST_REASON = 200;

export interface ClaimAroundOptions<Row extends object> {
  readonly description: TableDescription;
  readonly client: SqlClient;
  /** As it is now: what is refused meanwhile is left out. */
  readonly request: () => ClaimRequest;
  readonly limits: StatementLimits;
  /** From just before a statement is sent. */
  readonly believedMs: number;
  readonly refused: RefusedRows;
  /** The claim itself, without the rows that were refused meanwhile. */
  readonly claim: () => Promise<Found<Row>>;
}

interface Outcomes<Row extends object> {
  readonly rows: Map<string, ClaimedRow<Row>>;
  readonly refusals: Map<string, Refusal>;
}

/**
 * Claims what can be claimed after the database has refused a claim, as for one row a constraint or a trigger does not take what a claim
 * writes: one such row would otherwise stop all claims for as long as it is among the first.
 *
 * The rows are listed, and claimed by their ids in ever smaller parts until those that are refused stand alone. These are left out of
 * the claims of this process for a while; where a row's own values do not let another attempt be counted, it has none left, and is put away.
 *
 * @throws {LeaseholdError} LEASEHOLD_CLAIM_REFUSED when nothing could be claimed, for more than a few rows, or in a transaction of the
 * caller’s; what the driver rejects with, when it is another failure.
 */
export async function claimAround<Row extends object>(first: unknown, options: ClaimAroundOptions<Row>): Promise<Found<Row>> {
  const search = new Search<Row>(options);
  for (let refusal = first; ;) {
    const found = await search.run(refusal);
    if (!isNothing(found)) return found;
    if (search.isOver) throw allRefused(options.description, refusal);
    try {
      const rest = await search.claimRest();
      if (isNothing(rest) && search.isBeyondRows) throw allRefused(options.description, refusal);
      return rest;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal = error;
    }
  }
}

function isNothing({ rows, buried }: Found<object>): boolean {
  return rows.length === 0 && buried === 0;
}

class Search<Row extends object> {
  readonly #options: ClaimAroundOptions<Row>;
  readonly #end: Deadline;
  #statements = 0;
  #lists = 0;
  #refusals = 0;

  constructor(options: ClaimAroundOptions<Row>) {
    const { clock, timeoutMs } = options.limits;
    this.#options = options;
    this.#end = after(moment(clock), timeoutMs);
  }

  get isOver(): boolean {
    return this.#statements >= MOST_STATEMENTS || timeLeft(this.#options.limits.clock, this.#end) === 0;
  }

  get isBeyondRows(): boolean {
    return this.#refusals > HARMLESS;
  }

  claimRest(): Promise<Found<Row>> {
    this.#statements += 1;
    return this.#options.claim();
  }

  /** Goes through the rows that come first now. */
  async run(refusal: unknown): Promise<Found<Row>> {
    const request = this.#options.request();
    const listed = await this.#list(request, refusal);
    const toClaim = listed.filter(({ leasehold_reason: reason }) => reason === null).map((row) => refOf(row.leasehold_ref));
    const rows = new Map<string, ClaimedRow<Row>>();
    const buried = new Set<string>();
    const refusals = new Map<string, Refusal>();
    try {
      await this.#claimAll(request, toClaim, { rows, refusals });
      const toBury = [...listed.flatMap(spentRow), ...[...refusals.values()].flatMap((one) => this.#usedUpRow(request, one))];
      await this.#byHalves(toBury, {
        write: async (part) => (await this.#bury(request, part)).forEach((ref) => buried.add(keyOf(ref))),
        refuse: ({ ref }, error) => void refusals.set(keyOf(ref), refusals.get(keyOf(ref)) ?? { ref, error }),
      });
    } catch (error) {
      // What was leased has to reach somebody who works on it.
      if (rows.size === 0) throw error;
    } finally {
      for (const [key, one] of refusals) this.#note(request, one, buried.has(key));
    }
    return { rows: toClaim.flatMap((ref) => rows.get(keyOf(ref)) ?? []), buried: buried.size };
  }

  /** Again, as long as it helps: what was passed by may have been locked by a statement of this search that had just been refused. */
  async #claimAll(request: ClaimRequest, toClaim: readonly Ref[], { rows, refusals }: Outcomes<Row>): Promise<void> {
    for (let left = toClaim, before = 0; left.length > 0 && left.length !== before && !this.isOver;) {
      before = left.length;
      await this.#byHalves(left, {
        write: async (refs) => (await this.#lease(request, refs)).forEach((row) => rows.set(keyOf(row.ref), row)),
        refuse: (ref, error) => void refusals.set(keyOf(ref), { ref, error }),
      });
      if (refusals.size === 0) return;
      left = left.filter((ref) => !rows.has(keyOf(ref)) && !refusals.has(keyOf(ref)));
    }
  }

  #note({ leaseMs }: ClaimRequest, refusal: Refusal, isBuried: boolean): void {
    this.#refusals += 1;
    if (isBuried) this.#options.refused.buried(refusal);
    else this.#options.refused.leaveOut(refusal, leaseMs);
  }

  async #list(request: ClaimRequest, refusal: unknown): Promise<readonly ListedRow[]> {
    try {
      return await this.#run<ListedRow>(listSql(this.#options.description, request, this.#lists++ > 0));
    } catch (error) {
      if (isTransactionOver(error)) throw refusedInTransaction(this.#options.description, refusal);
      throw error;
    }
  }

  async #lease(request: ClaimRequest, refs: readonly Ref[]): Promise<readonly ClaimedRow<Row>[]> {
    const { description, believedMs, limits } = this.#options;
    const until = after(moment(limits.clock), believedMs);
    const found = await this.#run<FoundRow>(claimGivenSql(description, this.#inTime(request), refs));
    return claimedRows<Row>(found, request.columns, { clock: limits.clock, until });
  }

  async #bury(request: ClaimRequest, rows: readonly RowToBury[]): Promise<readonly Ref[]> {
    const statement = buryGivenSql(this.#options.description, this.#inTime(request), rows);
    const buried = await this.#run<Pick<ListedRow, 'leasehold_ref'>>(statement);
    return buried.map((row) => refOf(row.leasehold_ref));
  }

  /** Where `onClaim` may be what is refused, or a trigger refuses, it is perhaps the fault of this process, or of the moment. */
  #usedUpRow({ onClaim }: ClaimRequest, { ref, error }: Refusal): RowToBury[] {
    const { attempts, dead } = this.#options.description.table;
    const isItsOwn = isRefusedValue(error) && Object.keys(onClaim).length === 0;
    if (!isItsOwn || attempts === null || dead === null) return [];
    return [{ ref, reason: errorText(error, { maxLength: LONGEST_REASON }) }];
  }

  /** Nobody waits for the answer after the end of the search. */
  #inTime(request: ClaimRequest): ClaimRequest {
    const left = timeLeft(this.#options.limits.clock, this.#end);
    return request.givenUpAfterMs === null ? request : { ...request, givenUpAfterMs: left };
  }

  #byHalves<Item>(items: readonly Item[], how: Omit<ByHalves<Item>, 'isOver'>): Promise<void> {
    return byHalves(items, { ...how, isOver: () => this.isOver });
  }

  #run<T>(statement: Sql): Promise<T[]> {
    const { client, limits } = this.#options;
    this.#statements += 1;
    return runStatement<T>(client, statement, { ...limits, timeoutMs: timeLeft(limits.clock, this.#end) });
  }
}

function spentRow({ leasehold_ref: ref, leasehold_reason: reason }: ListedRow): RowToBury[] {
  return reason === null ? [] : [{ ref: refOf(ref), reason }];
}

function keyOf(ref: readonly string[]): string {
  return JSON.stringify(ref);
}

function allRefused({ table }: TableDescription, cause: unknown): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_CLAIM_REFUSED',
    `nothing could be claimed from ${table.table.quoted}, as the database refuses what a claim writes ` +
      `(${errorText(cause, { maxLength: LONGEST_REASON })}); make its constraints and triggers allow it, or mend \`attempts.max\`, \`onClaim\` or \`dead\`.`,
    { cause },
  );
}

function refusedInTransaction({ table }: TableDescription, cause: unknown): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_CLAIM_REFUSED',
    `the database refuses what a claim writes into a row of ${table.table.quoted} (${errorText(cause, { maxLength: LONGEST_REASON })}), and that ` +
      'has ended your transaction; roll it back. Claim outside of a transaction, with a pool, to have the row left out.',
    { cause },
  );
}
