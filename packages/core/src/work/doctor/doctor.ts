import { type Duration, resolveDuration } from '../../duration.ts';
import { isLeaseholdError } from '../../errors.ts';
import { requireKnown, requireObject } from '../../require-option.ts';
import { resolveLease } from '../claim-options.ts';
import type { SqlClient } from '../client.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { DESCRIBE_SQL, type DescribedColumn } from '../statements/describe.ts';
import { TableDescription } from '../table-description.ts';
import { asker, type Check, type Examination } from './examination.ts';
import { readFacts } from './facts.ts';
import { type Finding, finding, type Severity } from './findings.ts';
import { examineBloat, examineChecks, examineClaimIndex, examinePlan, examinePurge, examineStale } from './indexes.ts';
import { examineLive } from './live.ts';
import { examineRows } from './rows.ts';
import { examineTimeouts } from './timeouts.ts';
import { examineSnapshots, examineVacuum } from './vacuum.ts';

export interface DoctorOptions {
  /** The lease of the workers: compared with the server's `statement_timeout`. */
  readonly lease?: Duration;
  /** From which age on a transaction is old. @default '5m' */
  readonly oldSnapshot?: Duration;
  /** Each of its statements is given up after this. @default '30s' */
  readonly statementTimeout?: Duration;
}

/** Each reads what the one before has shown to be there. */
const CHECKS: readonly Check[] = [
  examineClaimIndex,
  examinePlan,
  examineBloat,
  examineStale,
  examineChecks,
  examineRows,
  examineSnapshots,
  examineVacuum,
  examineTimeouts,
  examinePurge,
];

/**
 * Looks for what keeps a work table from being quick and right, the worst first; none where all is well. It changes
 * nothing, and reads the catalog, the statistics and the claim index.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION; LEASEHOLD_STORE_TIMEOUT
 */
export async function doctor(table: ResolvedWorkTable, client: SqlClient, options: DoctorOptions = {}): Promise<Finding[]> {
  requireObject('the options of doctor()', options);
  requireKnown('doctor()', options, ['lease', 'oldSnapshot', 'statementTimeout']);
  const timeoutMs = resolveDuration('statementTimeout', options.statementTimeout ?? '30s');
  const oldSnapshotMs = resolveDuration('oldSnapshot', options.oldSnapshot ?? '5m');
  const leaseMs = options.lease === undefined ? null : resolveLease(options.lease);
  const ask = asker(client, { clock: table.clock, timeoutMs, what: 'look at the table' });
  const unfit = await examineTable(table, ask);
  if (unfit.length > 0) return unfit;
  return examine({ table, ask, leaseMs, oldSnapshotMs, facts: await readFacts(table, ask) });
}

async function examine(examination: Examination): Promise<Finding[]> {
  const found = await examineLive(examination);
  // A condition that PostgreSQL does not take would fail the rest of the questions.
  if (found.some(({ code }) => code === 'live-invalid')) return found;
  for (const check of CHECKS) found.push(...(await check(examination)));
  const order: readonly Severity[] = ['error', 'warning', 'info'];
  return found.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

/** What a claim would be refused for. */
async function examineTable(table: ResolvedWorkTable, ask: Examination['ask']): Promise<Finding[]> {
  const columns = await ask<DescribedColumn>(DESCRIBE_SQL, [table.table.quoted, [...table.id]]);
  try {
    void new TableDescription(table, columns);
    return [];
  } catch (error) {
    if (!isLeaseholdError(error, 'LEASEHOLD_WORK_TABLE')) throw error;
    return [finding('table-unfit', error.message, 'Mend the table or the options of workTable(); ddl() adds the lease columns.')];
  }
}
