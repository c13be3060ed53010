import { type Clock, systemClock } from '../clock.ts';
import { guardLogger, type Logger } from '../logger.ts';
import { quoteIdentifier } from '../postgres/identifier.ts';
import { requireKnown, requireLogger, requireObject, requireThat } from '../require-option.ts';
import { isOnePiece } from './condition-text.ts';
import { processWarnings } from './process-warnings.ts';
import { resolveSetValues, type SetValues } from './set-values.ts';
import { isSql, type Sql } from './sql.ts';
import { resolveIdentifier, resolveTableName, type TableName } from './work-table-name.ts';
import type { WorkTableOptions } from './work-table-options.ts';

/** A smallint's worth of attempts: more are a loop and not a policy. */
const MOST_ATTEMPTS = 32_767;
const MOST_ID_COLUMNS = 8;
/** Each doubles the scans of a claim of all groups, for NULL in it. */
const MOST_GROUP_COLUMNS = 4;
const MOST_PRIORITIES = 32;

/** The options of a work table, checked, with defaults; names are still as the catalog has them, unquoted. */
export interface ResolvedWorkTable {
  readonly table: TableName;
  readonly id: readonly string[];
  readonly orderBy: string;
  /** The text of the filter of the claim index. */
  readonly live: string;
  readonly lockId: string;
  readonly lockedUntil: string;
  readonly attempts: { readonly column: string; readonly max: number } | null;
  readonly deadline: string | null;
  readonly done: SetValues;
  readonly dead: { readonly set: SetValues; readonly reason: string | null } | null;
  readonly priority: { readonly column: string; readonly values: readonly number[] } | null;
  readonly groupBy: readonly string[];
  /** When a row is due, as an expression: the very one of the claim index. */
  readonly due: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const KNOWN: readonly (keyof WorkTableOptions)[] = [
  'table',
  'id',
  'orderBy',
  'live',
  'columns',
  'attempts',
  'deadline',
  'done',
  'dead',
  'priority',
  'groupBy',
  'logger',
  'clock',
];

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveWorkTable(options: WorkTableOptions): ResolvedWorkTable {
  requireObject('the options of workTable()', options);
  requireKnown('workTable()', options, KNOWN);
  const { columns = {}, clock = systemClock, logger = processWarnings() } = options;
  requireObject('columns', columns);
  requireKnown('columns', columns, ['lockId', 'lockedUntil']);
  requireLogger(logger);
  const lockedUntil = resolveIdentifier('columns.lockedUntil', columns.lockedUntil ?? 'locked_until');
  const orderBy = resolveIdentifier('orderBy', options.orderBy);
  const resolved: ResolvedWorkTable = {
    table: resolveTableName(options.table),
    id: resolveColumns('id', options.id ?? 'id', { least: 1, most: MOST_ID_COLUMNS }),
    orderBy,
    live: resolveLive(options.live),
    lockId: resolveIdentifier('columns.lockId', columns.lockId ?? 'lock_id'),
    lockedUntil,
    attempts: resolveAttempts(options.attempts),
    deadline: options.deadline === undefined ? null : resolveIdentifier('deadline', options.deadline),
    done: resolveSetValues('done', options.done ?? {}),
    dead: resolveDead(options.dead),
    priority: resolvePriority(options.priority),
    groupBy: resolveColumns('groupBy', options.groupBy ?? [], { least: 0, most: MOST_GROUP_COLUMNS }),
    due: `coalesce(${quoteIdentifier(lockedUntil)}, ${quoteIdentifier(orderBy)})`,
    clock,
    logger: guardLogger(logger),
  };
  requireConsistency(resolved, options);
  return resolved;
}

function requireConsistency(table: ResolvedWorkTable, options: WorkTableOptions): void {
  const buries = table.attempts !== null || table.deadline !== null;
  requireThat(
    !buries || table.dead !== null,
    'dead',
    options.dead,
    'say what burying a row writes, such as { set: { failed_at: sql`clock_timestamp()` } }: without it, a row that has used ' +
      'up its attempts or is past its deadline would stay for ever',
  );
  const owned = [table.lockId, table.lockedUntil];
  const named = new Set<unknown>([
    ...table.id,
    table.orderBy,
    ...table.groupBy,
    table.deadline,
    table.attempts?.column,
    table.priority?.column,
  ]);
  const clash = owned.find((name) => named.has(name)) ?? (owned[0] === owned[1] ? owned[0] : undefined);
  requireThat(clash === undefined, 'columns', clash, 'this column is for the lease alone; give each purpose a column of its own');
  const twice = table.groupBy.find((name) => name === table.priority?.column);
  requireThat(twice === undefined, 'groupBy', twice, 'it is the priority; give each purpose a column of its own');
  for (const set of [table.done, table.dead?.set ?? {}]) requireNotOwned(table, set);
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when a lease column is to be written by hand. */
export function requireNotOwned(table: ResolvedWorkTable, set: SetValues): void {
  const owned = Object.keys(set).find((name) => name === table.lockId || name === table.lockedUntil);
  requireThat(owned === undefined, 'set', owned, 'the lease columns are written by Leasehold alone; leave them out');
}

function resolveColumns(option: string, columns: unknown, { least, most }: { least: number; most: number }): readonly string[] {
  const list: readonly unknown[] = Array.isArray(columns) ? columns : [columns];
  const names = list.map((column) => resolveIdentifier(option, column));
  const valid = names.length >= least && names.length <= most && new Set(names).size === names.length;
  requireThat(valid, option, columns, `give ${least} to ${most} different columns`);
  return names;
}

function resolveLive(live: Sql): string {
  requireThat(isSql(live), 'live', live, 'give the filter of the rows to work on, such as sql`completed_at is null`');
  requireThat(
    live.values.length === 0,
    'live',
    live.strings.join('…'),
    'write its values into the text: the filter of an index has no parameters',
  );
  const text = live.strings.join('').trim();
  const valid = text !== '' && !text.includes(';') && !text.includes('--') && !text.includes('/*') && isOnePiece(text);
  requireThat(
    valid,
    'live',
    text,
    'give one condition, with as many parentheses opened as closed, without comments, semicolons and dollar quotes',
  );
  return text;
}

function resolveAttempts(attempts: WorkTableOptions['attempts']): ResolvedWorkTable['attempts'] {
  if (attempts === undefined) return null;
  requireObject('attempts', attempts);
  requireKnown('attempts', attempts, ['column', 'max']);
  const { column, max } = attempts;
  const valid = Number.isInteger(max) && max >= 1 && max <= MOST_ATTEMPTS;
  requireThat(valid, 'attempts.max', max, `give a whole number from 1 to ${MOST_ATTEMPTS}`);
  return { column: resolveIdentifier('attempts.column', column), max };
}

function resolveDead(dead: WorkTableOptions['dead']): ResolvedWorkTable['dead'] {
  if (dead === undefined) return null;
  requireObject('dead', dead);
  requireKnown('dead', dead, ['set', 'reason']);
  const set = resolveSetValues('dead.set', dead.set);
  requireThat(Object.keys(set).length > 0, 'dead.set', dead.set, 'give at least the column that makes `live` false');
  return { set, reason: dead.reason === undefined ? null : resolveIdentifier('dead.reason', dead.reason) };
}

function resolvePriority(priority: WorkTableOptions['priority']): ResolvedWorkTable['priority'] {
  if (priority === undefined) return null;
  requireObject('priority', priority);
  requireKnown('priority', priority, ['column', 'values']);
  const { column, values } = priority;
  const valid =
    Array.isArray(values) &&
    values.length > 0 &&
    values.length <= MOST_PRIORITIES &&
    values.every((value) => Number.isSafeInteger(value)) &&
    new Set(values).size === values.length;
  requireThat(valid, 'priority.values', values, `give 1 to ${MOST_PRIORITIES} different whole numbers, the first to come first`);
  return { column: resolveIdentifier('priority.column', column), values: [...values] };
}
