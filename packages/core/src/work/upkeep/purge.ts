import { type Duration, resolveDuration } from '../../duration.ts';
import { requireKnown, requireObject, requireThat } from '../../require-option.ts';
import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { SqlClient } from '../client.ts';
import { finished } from '../ddl/indexes.ts';
import { idAliases, idColumns, isAmong } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { runStatement, type Statement } from '../run-statement.ts';
import { resolveIdentifier } from '../work-table-name.ts';

export interface PurgeOptions {
  /** How long ago a row has to have been finished, by the database's clock: 0 to 10 years. */
  readonly olderThan: Duration;
  /** The `timestamptz` column that says when a row was finished; rows with NULL in it stay. @default the first column of `done` */
  readonly column?: string;
  /** At most so many rows by one statement, 1 to 10,000. @default 1,000 */
  readonly batch?: number;
  /** Ends the loop after the statement that runs. */
  readonly signal?: AbortSignal;
  /** A statement is given up after this. @default '30s' */
  readonly statementTimeout?: Duration;
}

const LONGEST_AGE_MS = 3_653 * 86_400_000;
const MOST_ROWS = 10_000;

/**
 * Deletes finished rows, batch by batch, and answers how many they were.
 *
 * *Gotcha:* rows that somebody has locked are left for the next purge. Given a connection within a transaction, all that
 * is deleted stays locked until that ends: give a pool.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION; LEASEHOLD_STORE_TIMEOUT
 */
export async function purge(table: ResolvedWorkTable, client: SqlClient, options: PurgeOptions): Promise<number> {
  const { column, ageMs, batch, timeoutMs } = resolve(table, options);
  const statement = purgeStatement(table, { column, ageMs, batch });
  const limits = { clock: table.clock, timeoutMs, what: 'purge' };
  let total = 0;
  for (let full = true; full && options.signal?.aborted !== true;) {
    const [row] = await runStatement<{ deleted: number }>(client, statement, limits);
    total += row?.deleted ?? 0;
    full = row?.deleted === batch;
  }
  return total;
}

function resolve(table: ResolvedWorkTable, options: PurgeOptions): Resolved & { readonly timeoutMs: number } {
  requireObject('the options of purge()', options);
  requireKnown('purge()', options, ['olderThan', 'column', 'batch', 'signal', 'statementTimeout']);
  const { batch = 1_000, column = Object.keys(table.done)[0] } = options;
  requireThat(column !== undefined, 'column', column, 'name the column that says when a row was finished: `done` has none');
  const valid = Number.isInteger(batch) && batch >= 1 && batch <= MOST_ROWS;
  requireThat(valid, 'batch', batch, `give a whole number from 1 to ${MOST_ROWS}`);
  return {
    column: resolveIdentifier('column', column),
    ageMs: resolveDuration('olderThan', options.olderThan, { min: 0, max: LONGEST_AGE_MS }),
    batch,
    timeoutMs: resolveDuration('statementTimeout', options.statementTimeout ?? '30s'),
  };
}

interface Resolved {
  readonly column: string;
  readonly ageMs: number;
  readonly batch: number;
}

/**
 * Finished rows have no place in the claim index: the purge index has them alone, oldest first, and its condition is this
 * one to the letter. Locked rows are skipped, so that neither an application's transaction nor another purge is waited for.
 */
function purgeStatement(table: ResolvedWorkTable, { column, ageMs, batch }: Resolved): Statement {
  const { quoted } = table.table;
  const finishedAt = quoteIdentifier(column);
  const ids = idColumns(table).map((id, index) => `${id} as ${idAliases(table)[index]}`);
  const text = `with doomed as materialized (
  select ${ids.join(', ')} from ${quoted}
  where ${finished(table)} and ${finishedAt} < statement_timestamp() - $1::float8 * interval '1 millisecond'
  order by ${finishedAt} limit $2::bigint
  for update skip locked
),
deleted as (delete from ${quoted} where ${isAmong(table, 'doomed')} returning 1)
select count(*)::int as deleted from deleted`;
  return { text, values: [ageMs, batch] };
}
