import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { columnMissing, constraintMissing, constraintNotValid, indexMissing, indexNotValid } from './catalog.ts';
import { checks } from './checks.ts';
import type { WorkIndex } from './indexes.ts';
import { quoteLiteral } from './quote-literal.ts';
import { raise } from './raise.ts';

/**
 * One change: a condition that says that it is still to be made, and what makes it, both within a block of PL/pgSQL.
 *
 * What makes it looks once more where it can: under `repeatable read` the catalog shows its state from before the wait
 * for the lock.
 */
export interface Step {
  readonly missing: string;
  readonly apply: string;
}

/** Nullable and without a default, so that nothing of the table is rewritten. */
export function columnSteps(table: ResolvedWorkTable): Step[] {
  return [columnStep(table, table.lockId, 'uuid'), columnStep(table, table.lockedUntil, 'timestamptz')];
}

function columnStep({ table }: ResolvedWorkTable, column: string, type: string): Step {
  return {
    missing: columnMissing(column),
    apply: execute(`alter table ${table.quoted} add column if not exists ${quoteIdentifier(column)} ${type}`),
  };
}

/** `notValid` leaves the rows that are there to {@link validateSteps}, under which others read and write on. */
export function checkSteps(table: ResolvedWorkTable, { notValid }: { readonly notValid: boolean }): Step[] {
  return checks(table).map(({ name, condition }) => {
    const sql = `alter table ${table.table.quoted} add constraint ${quoteIdentifier(name)} check (${condition})`;
    const apply = execute(notValid ? `${sql} not valid` : sql);
    return { missing: constraintMissing(name), apply: `begin ${apply} exception when duplicate_object then null; end;` };
  });
}

export function validateSteps(table: ResolvedWorkTable): Step[] {
  return checks(table).map(({ name }) => ({
    missing: constraintNotValid(name),
    apply: execute(`alter table ${table.table.quoted} validate constraint ${quoteIdentifier(name)}`),
  }));
}

export function indexStep(table: ResolvedWorkTable, index: WorkIndex): Step {
  const taken = raise({
    state: '42P07',
    message: `the name ${quoteIdentifier(index.name)} is taken by something that is no valid index of ${table.table.quoted}`,
    hint: 'Rename or drop it, and run this again.',
  });
  const stillMissing = `current_setting('transaction_isolation') = 'read committed' and ${indexMissing(index.name)}`;
  const apply = `${execute(createIndex(table, index))} if ${stillMissing} then ${taken} end if;`;
  return { missing: indexMissing(index.name), apply };
}

export function createIndex({ table }: ResolvedWorkTable, { name, definition }: WorkIndex, concurrently = ''): string {
  return `create index ${concurrently}if not exists ${quoteIdentifier(name)} on ${table.quoted} ${definition}`;
}

/** The rest of a concurrent build that failed: it costs every write, serves no read, and holds the name. */
export function dropInvalidStep({ name }: WorkIndex): Step {
  const schema = '(select relnamespace::regnamespace from pg_class where oid = target)';
  return { missing: indexNotValid(name), apply: `execute format('drop index %s.%I', ${schema}, ${quoteLiteral(name)});` };
}

function execute(sql: string): string {
  return `execute ${quoteLiteral(sql)};`;
}
