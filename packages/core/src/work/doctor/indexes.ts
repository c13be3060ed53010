import { quoteIdentifier } from '../../postgres/identifier.ts';
import { claimIndex, finished } from '../ddl/indexes.ts';
import { checks } from '../ddl/checks.ts';
import { idColumns } from '../names.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { type Examination, SMALL_PAGES } from './examination.ts';
import { isNamedFor } from './facts.ts';
import { type Finding, finding } from './findings.ts';

export function examineClaimIndex({ table, facts }: Examination): Finding[] {
  const { quoted } = table.table;
  const { name } = claimIndex(table);
  if (facts.claimIndex === null) {
    const fix = `Run the SQL of ddl(), or of ddlStatements() on a large table. An index of this very definition that you made yourself only needs the name.`;
    return [finding('claim-index-missing', `${quoted} has no index ${name}, the one of the present definition`, fix)];
  }
  if (facts.claimIndex.isValid) return [];
  const message = `the claim index ${name} of ${quoted} is not valid: a concurrent build has failed, or is under way`;
  return [
    finding(
      'claim-index-invalid',
      message,
      'Where none is under way, run the SQL of ddl() or ddlStatements() again: it drops the rest and builds anew.',
    ),
  ];
}

/** The scan of a claim, without its lock, which changes no plan. */
export async function examinePlan({ table, facts, ask }: Examination): Promise<Finding[]> {
  if (facts.claimIndex?.isValid !== true || facts.pages < SMALL_PAGES) return [];
  const rows = await ask<{ 'QUERY PLAN': string }>(
    `explain select from ${table.table.quoted} where (${table.live}) and ${table.due} <= statement_timestamp() order by ${claimOrder(table)} limit 20`,
  );
  const plan = rows.map((row) => row['QUERY PLAN']);
  // A partition's index has a name of its own, and a sort is what an index that is not used costs.
  const isUsed =
    plan.some((line) => line.includes(facts.claimIndex?.name ?? '')) || !plan.some((line) => /Sort|Seq Scan/.test(line));
  if (isUsed) return [];
  const fix = `Run "analyze ${table.table.quoted}", and look at enable_indexscan, random_page_cost and the plan again.`;
  return [
    finding(
      'claim-index-unused',
      `a claim of ${table.table.quoted} is planned without its index: ${plan[0]?.trim() ?? ''} …`,
      fix,
    ),
  ];
}

/** A full page holds some 200 entries. */
const FEW_ENTRIES_PER_PAGE = 40;
const MOST_ROWS_COUNTED = 200_000;

/** Counts rather than trusts the statistics, which say nothing of the rows since they were made. */
export async function examineBloat({ table, facts, ask }: Examination): Promise<Finding[]> {
  const pages = facts.claimIndex?.pages ?? 0;
  if (facts.claimIndex?.isValid !== true || pages < SMALL_PAGES) return [];
  const enough = Math.min(pages * FEW_ENTRIES_PER_PAGE, MOST_ROWS_COUNTED);
  const text = `select count(*)::int as live from (select from ${table.table.quoted} where (${table.live}) order by ${claimOrder(table)} limit $1::bigint) counted`;
  const [{ live } = { live: 0 }] = await ask<{ live: number }>(text, [enough]);
  if (live >= enough) return [];
  const message = `the claim index ${facts.claimIndex.name} has ${pages} pages for ${live} live rows`;
  const fix = `Run "reindex index concurrently ${indexInSchema(table.table.schema, facts.claimIndex.name)}". A backlog leaves such an index; where it comes back without one, look at vacuum.`;
  return [finding('claim-index-bloated', message, fix)];
}

export function examineStale({ table, facts }: Examination): Finding[] {
  const current = new Set([claimIndex(table).name, ...checks(table).map(({ name }) => name)]);
  const { quoted, schema } = table.table;
  const fix = 'once no instance runs with that definition any more (a second workTable() on the table may have it too)';
  const indexes = facts.indexes
    .filter(({ name }) => isNamedFor(table, 'claim', name) && !current.has(name))
    .map(({ name }) =>
      finding(
        'index-stale',
        `${quoted} has the claim index ${name} of another definition`,
        `Run "drop index concurrently ${indexInSchema(schema, name)}" ${fix}.`,
      ),
    );
  const constraints = facts.constraints
    .filter(({ name }) => (isNamedFor(table, 'due', name) || isNamedFor(table, 'attempts', name)) && !current.has(name))
    .map(({ name }) =>
      finding(
        'index-stale',
        `${quoted} has the check ${name} of another definition`,
        `Run "alter table ${quoted} drop constraint ${quoteIdentifier(name)}" ${fix}.`,
      ),
    );
  return [...indexes, ...constraints];
}

export function examineChecks({ table, facts }: Examination): Finding[] {
  const { quoted } = table.table;
  return checks(table).flatMap(({ name, condition }) => {
    const found = facts.constraints.find((constraint) => constraint.name === name);
    if (found?.isValid === true) return [];
    const state = found === undefined ? 'does not have' : 'has never validated';
    const count = `select count(*) from ${quoted} where not (${condition})`;
    return [
      finding(
        'check-missing',
        `${quoted} ${state} the check ${name}: ${condition}`,
        `Run the SQL of ddl(). Where it is refused, find the rows: "${count}".`,
      ),
    ];
  });
}

const MANY_FINISHED_ROWS = 10_000;

/** By the planner's estimate: without that index, counting them may read the whole table. */
export async function examinePurge({ table, facts, ask }: Examination): Promise<Finding[]> {
  const hasIndex = facts.indexes.some(({ name, isValid }) => isValid && isNamedFor(table, 'purge', name));
  if (hasIndex || facts.rows === null || facts.pages < SMALL_PAGES) return [];
  const [row] = await ask<{ 'QUERY PLAN': string }>(`explain select from ${table.table.quoted} where ${finished(table)}`);
  const count = Number(/rows=(\d+)/.exec(row?.['QUERY PLAN'] ?? '')?.[1] ?? 0);
  if (count < MANY_FINISHED_ROWS) return [];
  const fix =
    'Run the SQL of ddl({ purgeIndex: … }) with the column that says when a row was finished, and purge() from time to time.';
  return [
    finding('purge-index-missing', `${table.table.quoted} keeps about ${count} finished rows, and has no purge index`, fix),
  ];
}

/** The order of the claim index. */
function claimOrder(table: ResolvedWorkTable): string {
  const leading = [...table.groupBy, ...(table.priority === null ? [] : [table.priority.column])].map(quoteIdentifier);
  return [...leading, table.due, ...idColumns(table)].join(', ');
}

function indexInSchema(schema: string | null, name: string): string {
  return [...(schema === null ? [] : [schema]), name].map(quoteIdentifier).join('.');
}
