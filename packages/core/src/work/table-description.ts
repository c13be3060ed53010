import { LeaseholdError } from '../errors.ts';
import type { ResolvedWorkTable } from './resolve-work-table.ts';
import { type DescribedColumn } from './statements/describe.ts';

export interface ColumnDescription {
  readonly name: string;
  /** As it is written in a cast. */
  readonly type: string;
  readonly isArray: boolean;
  /** Of the column, or of the elements of its arrays. */
  readonly isJson: boolean;
  readonly isBinary: boolean;
  /** A date or time without a time zone. */
  readonly isLocalTime: boolean;
}

/** What the database knows of a work table: its columns, in their order. */
export class TableDescription {
  readonly table: ResolvedWorkTable;
  readonly #columns: ReadonlyMap<string, ColumnDescription>;

  /** @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when the table is not what the options say. */
  constructor(table: ResolvedWorkTable, rows: readonly DescribedColumn[]) {
    this.table = table;
    if (rows.length === 0) throw noTable(table);
    const byName = new Map(rows.map((row) => [row.name, row]));
    requireColumns(table, byName);
    requireTypes(table, byName);
    requireList(table, byName);
    if (rows[0]?.id_is_unique === false) {
      const fix =
        'give it a primary key or unique index of just that, or name other columns: else one row’s outcome would be written into several';
      throw wrong(table, `nothing makes its id (${table.id.join(', ')}) unique; ${fix}.`);
    }
    this.#columns = new Map(rows.map((row) => [row.name, describe(row)]));
  }

  get columnNames(): readonly string[] {
    return [...this.#columns.keys()];
  }

  /** @throws {LeaseholdError} LEASEHOLD_WORK_TABLE when there is no such column. */
  column(name: string): ColumnDescription {
    const column = this.#columns.get(name);
    if (column === undefined) throw missing(this.table, [name], this.columnNames);
    return column;
  }
}

function describe(row: DescribedColumn): ColumnDescription {
  const element = row.element_type;
  return {
    name: row.name,
    type: row.type,
    isArray: row.is_array,
    isJson: element === 'json' || element === 'jsonb',
    isBinary: element === 'bytea',
    isLocalTime: element === 'date' || element === 'timestamp without time zone',
  };
}

function requireColumns(table: ResolvedWorkTable, columns: ReadonlyMap<string, DescribedColumn>): void {
  const lease = [table.lockId, table.lockedUntil].filter((name) => !columns.has(name));
  if (lease.length > 0) throw wrong(table, `it has no column ${lease.join(' and no ')}; run the SQL that ddl() gives.`);
  const named = [
    ...table.id,
    table.orderBy,
    ...table.groupBy,
    ...Object.keys(table.done),
    ...Object.keys(table.dead?.set ?? {}),
    table.dead?.reason,
    table.deadline,
    table.attempts?.column,
    table.priority?.column,
  ];
  const absent = named.filter((name) => typeof name === 'string' && !columns.has(name));
  if (absent.length > 0) throw missing(table, absent as string[], [...columns.keys()]);
}

const INTEGERS = ['smallint', 'integer', 'bigint'];

function requireTypes(table: ResolvedWorkTable, columns: ReadonlyMap<string, DescribedColumn>): void {
  const require = (name: string | null | undefined, types: readonly string[]): void => {
    const column = typeof name === 'string' ? columns.get(name) : undefined;
    if (column === undefined || types.includes(column.base_type)) return;
    throw wrong(table, `its column ${column.name} is of type ${column.type}; it has to be ${types.join(' or ')}.`);
  };
  const moment = ['timestamp with time zone'];
  require(table.lockId, ['uuid']);
  require(table.lockedUntil, moment);
  require(table.orderBy, moment);
  require(table.deadline, moment);
  require(table.attempts?.column, INTEGERS);
  require(table.priority?.column, INTEGERS);
  const mayBeNull = [table.orderBy, table.attempts?.column, table.priority?.column].find(
    (name) => columns.get(name ?? '')?.not_null === false,
  );
  if (mayBeNull === undefined) return;
  throw wrong(table, `its column ${mayBeNull} may be NULL; make it "not null": a row with NULL in it would never be claimed.`);
}

/** Rows are given as a list of ids, and PostgreSQL has none of arrays. */
function requireList(table: ResolvedWorkTable, columns: ReadonlyMap<string, DescribedColumn>): void {
  const [id = '', ...more] = table.id;
  const { is_array: isArray, type, base_type: baseType } = columns.get(id) ?? {};
  if (more.length > 0 || isArray !== true || type !== baseType) return;
  throw wrong(
    table,
    `its id ${id} is of type ${type}, and no array can be the id; name another column, or a domain over that type.`,
  );
}

function missing(table: ResolvedWorkTable, absent: readonly string[], present: readonly string[]): LeaseholdError {
  return wrong(table, `it has no column ${absent.join(' and no ')}; it has ${present.join(', ')}.`);
}

function wrong(table: ResolvedWorkTable, what: string): LeaseholdError {
  return new LeaseholdError('LEASEHOLD_WORK_TABLE', `table ${table.table.quoted} is not what workTable() was told: ${what}`);
}

function noTable(table: ResolvedWorkTable): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_WORK_TABLE',
    `there is no table ${table.table.quoted} on this connection, or its user may not see it; create it, or name its schema.`,
  );
}
