import { requireKnown, requireObject, requireThat } from '../../require-option.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { resolveIdentifier } from '../work-table-name.ts';
import { autovacuumSteps } from './autovacuum.ts';
import { blockSql } from './block.ts';
import { claimIndex, purgeIndex, type WorkIndex } from './indexes.ts';
import { requirements } from './requirements.ts';
import { checkSteps, columnSteps, createIndex, dropInvalidStep, indexStep, validateSteps } from './steps.ts';
import { requirePlain, verifyStep } from './verify.ts';

export interface DdlOptions {
  /** The column that says when a row was finished: adds the index over finished rows that {@link WorkTable.purge} needs. */
  readonly purgeIndex?: string;
  /** Has the table vacuumed after 1 % of its rows, not after 20 %. What is set on the table already stays. @default false */
  readonly autovacuum?: boolean;
}

/**
 * The SQL that adds what a work table needs, as one statement.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function ddl(table: ResolvedWorkTable, options: DdlOptions = {}): string {
  const { indexes, autovacuum } = resolve(table, options);
  const steps = [
    ...columnSteps(table),
    ...checkSteps(table, { notValid: false }),
    ...validateSteps(table),
    ...indexes.flatMap((index) => [dropInvalidStep(index), indexStep(table, index)]),
    ...(autovacuum ? autovacuumSteps() : []),
  ];
  return `${blockSql(table, { requirements: requirements(table), steps })};\n`;
}

/**
 * The same in statements for a large table in use, each to be run by itself and outside a transaction.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function ddlStatements(table: ResolvedWorkTable, options: DdlOptions = {}): string[] {
  const { indexes, autovacuum } = resolve(table, options);
  const brief = [
    ...columnSteps(table),
    ...checkSteps(table, { notValid: true }),
    ...indexes.map(dropInvalidStep),
    ...(autovacuum ? autovacuumSteps() : []),
  ];
  return [
    blockSql(table, { requirements: `${requirements(table)}\n${requirePlain(table)}`, steps: brief }),
    blockSql(table, { steps: validateSteps(table) }),
    ...indexes.map((index) => createIndex(table, index, 'concurrently ')),
    blockSql(table, { steps: indexes.map((index) => verifyStep(table, index)) }),
  ];
}

function resolve(
  table: ResolvedWorkTable,
  options: DdlOptions,
): { readonly indexes: readonly WorkIndex[]; readonly autovacuum: boolean } {
  requireObject('the options of ddl()', options);
  requireKnown('ddl()', options, ['purgeIndex', 'autovacuum']);
  const { purgeIndex: column, autovacuum = false } = options;
  requireThat(typeof autovacuum === 'boolean', 'autovacuum', autovacuum, 'give true or false');
  const purge = column === undefined ? [] : [purgeIndex(table, resolveIdentifier('purgeIndex', column))];
  return { indexes: [claimIndex(table), ...purge], autovacuum };
}
