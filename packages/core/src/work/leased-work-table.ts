import { randomUUID } from 'node:crypto';
import { isLeaseholdError } from '../errors.ts';
import { isRefusal, isSchemaProblem } from '../postgres/errors.ts';
import type { Claim, ClaimOptions } from './claim.ts';
import { type ResolvedClaimOptions, resolveClaimOptions } from './claim-options.ts';
import { claimAround, type ClaimAroundOptions } from './claim-around.ts';
import { ClaimedRows } from './claimed-rows.ts';
import { requireClient, type SqlClient } from './client.ts';
import { ddl, type DdlOptions, ddlStatements } from './ddl/ddl.ts';
import { after, moment } from './deadline.ts';
import { doctor, type DoctorOptions } from './doctor/doctor.ts';
import type { Finding } from './doctor/findings.ts';
import { claimedRows, type Found, type FoundRow } from './found-rows.ts';
import { HeldClaim } from './held-claim.ts';
import { RefusedRows } from './refused-rows.ts';
import type { ResolvedWorkTable } from './resolve-work-table.ts';
import { isPoolOfPg, runStatement, type StatementLimits } from './run-statement.ts';
import { claimSql } from './statements/claim.ts';
import { type ClaimRequest, FIRST_ROUND, type Round } from './statements/claim-request.ts';
import { DESCRIBE_SQL, type DescribedColumn } from './statements/describe.ts';
import { TableDescription } from './table-description.ts';
import { nextDueSql } from './statements/next-due.ts';
import { counts, type CountsOptions, type TableCounts } from './upkeep/counts.ts';
import { purge, type PurgeOptions } from './upkeep/purge.ts';
import { requeue, type RequeueOptions, resolveRequeue } from './upkeep/requeue.ts';
import type { WorkTable } from './work-table.ts';
import type { WorkOptions } from './worker/work-options.ts';
import { startWorker } from './worker/work.ts';
import type { Worker } from './worker/worker.ts';

const LONGEST_LOOK_MS = 10_000;

const MOST_TURNS = 2 ** 31;

export class LeasedWorkTable<Row extends object> implements WorkTable<Row> {
  readonly #table: ResolvedWorkTable;
  #description: Promise<TableDescription> | null = null;
  /** Kept in memory alone: it makes the claims of this process even, and no row waits for it. */
  #round: Round = FIRST_ROUND;

  readonly #refused: RefusedRows;

  constructor(table: ResolvedWorkTable) {
    this.#table = table;
    this.#refused = new RefusedRows(table);
  }

  ddl(options?: DdlOptions): string {
    return ddl(this.#table, options);
  }

  ddlStatements(options?: DdlOptions): readonly string[] {
    return ddlStatements(this.#table, options);
  }

  work(client: SqlClient, options: WorkOptions<Row>): Worker {
    const { attempts, clock, logger, table } = this.#table;
    const source = {
      name: table.name,
      attempts,
      clock,
      logger,
      check: (how: ClaimOptions) => void resolveClaimOptions(this.#table, how),
      claim: (from: SqlClient, how: ClaimOptions) => this.claim(from, how),
      nextDueMs: (from: SqlClient) => this.#nextDueMs(from),
    };
    return startWorker(source, client, options);
  }

  async #nextDueMs(client: SqlClient): Promise<number | null> {
    const text = nextDueSql(this.#table);
    if (text === null) return null;
    const limits = { clock: this.#table.clock, timeoutMs: LONGEST_LOOK_MS, what: 'look at what is due next' };
    const [next] = await runStatement<{ readonly ms: number }>(client, { text, values: [] }, limits);
    return next?.ms ?? null;
  }

  async claim(client: SqlClient, given?: ClaimOptions): Promise<Claim<Row>> {
    requireClient('client', client);
    const options = resolveClaimOptions(this.#table, given);
    const limits = { clock: this.#table.clock, timeoutMs: options.statementTimeoutMs, what: 'claim of rows' };
    const description = await this.#describe(client, limits);
    const token = randomUUID();
    try {
      const { rows, buried } = await this.#claim(this.#callOf(client, { description, options, limits, token }));
      return new HeldClaim({ description, client, token, rows: new ClaimedRows(this.#table.id, rows), buried, options });
    } catch (error) {
      // A migration may have changed the table since it was looked at.
      if (isSchemaProblem(error)) this.#description = null;
      throw error;
    }
  }

  purge(client: SqlClient, options: PurgeOptions): Promise<number> {
    return this.#explained(client, purge(this.#table, client, options));
  }

  async requeue(client: SqlClient, options: RequeueOptions<Row>): Promise<number> {
    const request = resolveRequeue(this.#table, options);
    const limits = { clock: this.#table.clock, timeoutMs: request.timeoutMs, what: 'requeue' };
    return requeue(await this.#describe(client, limits), client, { request, limits });
  }

  counts(client: SqlClient, options?: CountsOptions): Promise<TableCounts> {
    return this.#explained(client, counts(this.#table, client, options));
  }

  doctor(client: SqlClient, options?: DoctorOptions): Promise<readonly Finding[]> {
    return doctor(this.#table, client, options);
  }

  #callOf(client: SqlClient, { description, options, limits, token }: NewClaim): ClaimCall {
    const columns = options.returning ?? description.columnNames;
    const givenUpAfterMs = isPoolOfPg(client) ? limits.timeoutMs : null;
    const request = (round = this.#round): ClaimRequest => {
      return { ...options, token, columns, givenUpAfterMs, without: this.#refused.refs, round };
    };
    return { client, description, limits, request, believedMs: options.leaseMs - options.safetyMarginMs };
  }

  async #claim(call: ClaimCall): Promise<Found<Row>> {
    try {
      return await this.#claimDue(call);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return claimAround<Row>(error, { ...call, refused: this.#refused, claim: () => this.#claimDue(call) });
    }
  }

  async #claimDue({ client, description, limits, request, believedMs }: ClaimCall): Promise<Found<Row>> {
    for (let round = this.#round, laps = 0; ;) {
      const asked = request(round);
      const statement = claimSql(description, asked);
      const until = after(moment(limits.clock), believedMs);
      const found = await runStatement<FoundRow>(client, statement, limits);
      const rows = claimedRows<Row>(found, asked.columns, { clock: limits.clock, until });
      const buried = found[0]?.leasehold_buried ?? 0;
      laps += found[0]?.leasehold_lap ?? 0;
      round = nextRound(round, found[0]);
      this.#round = round;
      // Groups without a row that could be had were all that one statement looked at: the others' turn is now, and not later.
      const isElsewhere = found[0]?.leasehold_cut === true && laps < 2;
      if (rows.length > 0 || buried > 0 || !isElsewhere) return { rows, buried };
    }
  }

  /** Looked up once: the types of columns, which values are cast to, and whether all of it is there. */
  #describe(client: SqlClient, limits: StatementLimits): Promise<TableDescription> {
    if (this.#description !== null) return this.#description;
    const description = this.#lookUp(client, limits);
    this.#description = description;
    description.catch(() => {
      if (this.#description === description) this.#description = null;
    });
    return description;
  }

  /** These need no description: only where PostgreSQL misses something is the table looked at, to say what `workTable()` was told. */
  async #explained<T>(client: SqlClient, running: Promise<T>): Promise<T> {
    try {
      return await running;
    } catch (error) {
      if (!isSchemaProblem(error)) throw error;
      const limits = { clock: this.#table.clock, timeoutMs: LONGEST_LOOK_MS, what: 'look at the table' };
      const found: unknown = await this.#lookUp(client, limits).catch((unfit: unknown) => unfit);
      throw isLeaseholdError(found, 'LEASEHOLD_WORK_TABLE') ? found : error;
    }
  }

  async #lookUp(client: SqlClient, limits: StatementLimits): Promise<TableDescription> {
    const statement = { text: DESCRIBE_SQL, values: [this.#table.table.quoted, [...this.#table.id]] };
    const rows = await runStatement<DescribedColumn>(client, statement, { ...limits, what: 'look at the table' });
    return new TableDescription(this.#table, rows);
  }
}

interface NewClaim {
  readonly description: TableDescription;
  readonly options: ResolvedClaimOptions;
  readonly limits: StatementLimits;
  readonly token: string;
}

type ClaimCall = Omit<ClaimAroundOptions<object>, 'refused' | 'claim' | 'request'> & {
  readonly request: (round?: Round) => ClaimRequest;
};

function nextRound({ after: last, turn }: Round, found: FoundRow | undefined): Round {
  return { after: found?.leasehold_after ?? last, turn: (turn + 1) % MOST_TURNS };
}
