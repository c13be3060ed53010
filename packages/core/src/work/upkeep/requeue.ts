import { type Duration, resolveDuration } from '../../duration.ts';
import { LeaseholdError } from '../../errors.ts';
import { requireKnown, requireObject, requireThat } from '../../require-option.ts';
import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { SqlClient } from '../client.ts';
import type { RowRef } from '../fate.ts';
import { idAliases, idColumns, isAmong } from '../names.ts';
import { requireNotOwned, type ResolvedWorkTable } from '../resolve-work-table.ts';
import { runStatement, type StatementLimits } from '../run-statement.ts';
import { resolveSetValues, type SetValues } from '../set-values.ts';
import { empty, isSql, join, raw, type Sql, sql, toSql } from '../sql.ts';
import { assignments } from '../statements/assignments.ts';
import type { TableDescription } from '../table-description.ts';

export interface RequeueOptions<Row extends object = Record<string, unknown>> {
  /** These rows: rows, ids, or objects with the columns of the id; at most 10,000. */
  readonly ids?: readonly RowRef[];
  /** The rows for which this is true, such as ``sql`failed_at is not null` ``. With `ids`, both have to hold. */
  readonly where?: Sql;
  /** What makes them live again, such as `{ failed_at: null }`, and what else is to be written. */
  readonly set?: SetValues<Row>;
  /** At most so many rows, 1 to 10,000. @default 10,000 */
  readonly limit?: number;
  /** The statement is given up after this. @default '30s' */
  readonly statementTimeout?: Duration;
}

const MOST_ROWS = 10_000;

/**
 * Makes rows due now that are finished, dead or wait for a retry, as if they had never been tried, and answers how many.
 *
 * A row whose lease runs is left alone, and so is one that somebody has locked. They stand behind what is due already.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_WORK_TABLE; LEASEHOLD_STORE_TIMEOUT
 */
export async function requeue(
  description: TableDescription,
  client: SqlClient,
  { request, limits }: RequeueCall,
): Promise<number> {
  const { table } = description;
  try {
    const rows = await runStatement<{ requeued: number }>(client, requeueSql(description, request), limits);
    return rows[0]?.requeued ?? 0;
  } catch (error) {
    throw explain(table, error);
  }
}

interface RequeueCall {
  readonly request: ResolvedRequeue;
  readonly limits: StatementLimits;
}

export interface ResolvedRequeue {
  readonly ids: readonly (readonly string[])[] | null;
  readonly where: Sql | null;
  readonly set: SetValues;
  readonly limit: number;
  readonly timeoutMs: number;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION */
export function resolveRequeue(table: ResolvedWorkTable, options: RequeueOptions): ResolvedRequeue {
  requireObject('the options of requeue()', options);
  requireKnown('requeue()', options, ['ids', 'where', 'set', 'limit', 'statementTimeout']);
  const { ids, where, set = {}, limit = MOST_ROWS } = options;
  requireThat(where === undefined || isSql(where), 'where', where, 'give a condition, such as sql`failed_at is not null`');
  requireThat(
    ids !== undefined || where !== undefined,
    'where',
    where,
    'say which rows, by ids or by where; sql`true` is all of them',
  );
  const areIds = ids === undefined || (Array.isArray(ids) && ids.length <= MOST_ROWS);
  requireThat(areIds, 'ids', ids, `give an array of at most ${MOST_ROWS}`);
  const valid = Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS;
  requireThat(valid, 'limit', limit, `give a whole number from 1 to ${MOST_ROWS}`);
  requireNotOwned(table, resolveSetValues('set', set));
  const timeoutMs = resolveDuration('statementTimeout', options.statementTimeout ?? '30s');
  return { ids: ids?.map((ref) => idOf(table, ref)) ?? null, where: where ?? null, set, limit, timeoutMs };
}

/** As text: a bigint that became a number has lost its last digits, and would name another row. */
function idOf(table: ResolvedWorkTable, ref: RowRef): string[] {
  const values: unknown[] = typeof ref === 'object' && ref !== null ? table.id.map((column) => Reflect.get(ref, column)) : [ref];
  const isExact = (value: unknown): boolean =>
    typeof value === 'string' || typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const columns = table.id.join(', ');
  requireThat(
    values.length === table.id.length && values.every(isExact),
    'ids',
    ref,
    `give a row, or its id (${columns}): strings, bigints, or whole numbers that a number holds exactly`,
  );
  return values.map(String);
}

function amongIds(description: TableDescription, ids: readonly (readonly string[])[]): Sql {
  const { id } = description.table;
  const columns = raw(idColumns(description.table).join(', '));
  const arrays = id.map((_column, index) => sql`${ids.map((values) => values[index])}::text[]`);
  const names = raw(id.map((_column, index) => `i${index}`).join(', '));
  const casts = raw(id.map((column, index) => `given.i${index}::${description.column(column).type}`).join(', '));
  return sql`(${columns}) in (select ${casts} from unnest(${join(arrays)}) as given (${names}))`;
}

/** Becomes part of PostgreSQL's message, by a cast that fails: nothing of the statement is written then. */
const STILL_FINISHED = 'leasehold: live is false for a requeued row';
const PAST_DEADLINE = 'leasehold: a requeued row is past its deadline';

/**
 * Due is now, not the time it was first due: rows that are requeued by the thousand would hold up those that came since. A
 * row that is not live after all, or that the next claim would bury for its deadline, fails the whole statement.
 */
function requeueSql(description: TableDescription, { ids: chosenIds, where, set, limit }: ResolvedRequeue): Sql {
  const { table } = description;
  const conditions = [
    ...(chosenIds === null ? [] : [amongIds(description, chosenIds)]),
    ...(where === null ? [] : [sql`(${toSql(where)})`]),
  ];
  const name = raw(table.table.quoted);
  const [lockId, until] = [raw(quoteIdentifier(table.lockId)), raw(quoteIdentifier(table.lockedUntil))];
  const ids = idColumns(table);
  const named = ids.map((column, index) => `${column} as ${idAliases(table)[index]}`).join(', ');
  return sql`with chosen as materialized (
  select ${raw(named)} from ${name}
  where ${join(conditions, ' and ')} and not coalesce(${lockId} is not null and ${until} > statement_timestamp(), false)
  order by ${raw(ids.join(', '))} limit ${limit}::bigint
  for no key update skip locked
),
written as (
  update ${name} set ${join([sql`${lockId} = null`, sql`${until} = clock_timestamp()`, ...attempts(table, set), ...assignments(description, set)])}
  where ${raw(isAmong(table, 'chosen'))}
  returning (case when (${raw(table.live)}) is not true then ${STILL_FINISHED}::text ${pastDeadline(table)} else 'true' end)::boolean as fine
)
select count(fine)::int as requeued from written`;
}

function attempts(table: ResolvedWorkTable, set: SetValues): Sql[] {
  if (table.attempts === null || table.attempts.column in set) return [];
  return [raw(`${quoteIdentifier(table.attempts.column)} = 0`)];
}

function pastDeadline({ deadline }: ResolvedWorkTable): Sql {
  if (deadline === null) return empty;
  return sql`when ${raw(quoteIdentifier(deadline))} <= clock_timestamp() then ${PAST_DEADLINE}::text`;
}

function explain(table: ResolvedWorkTable, error: unknown): unknown {
  const said = error instanceof Error ? error.message : '';
  const refused = (message: string): LeaseholdError =>
    new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: 'set', cause: error });
  if (said.includes(STILL_FINISHED)) {
    return refused(
      `set leaves a row finished, for which live (${table.live}) is not true; set what makes it live. Nothing was written.`,
    );
  }
  if (said.includes(PAST_DEADLINE)) {
    return refused(
      `set leaves a row past its deadline, and the next claim would bury it; set ${table.deadline} too. Nothing was written.`,
    );
  }
  return error;
}
