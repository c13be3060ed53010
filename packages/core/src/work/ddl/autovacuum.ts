import type { Step } from './steps.ts';

/**
 * Each claim and each settling leaves a dead row version and a dead entry of the claim index, at the very head that the
 * next claim begins with. By default autovacuum waits until a fifth of the table is dead, finished rows counted in: with
 * a million of them, claims step over 200,000 dead entries.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  autovacuum_vacuum_scale_factor: '0.01',
  autovacuum_vacuum_threshold: '1000',
  autovacuum_analyze_scale_factor: '0.02',
};

/** The table itself, or the partitions that have rows: a partitioned table takes no storage parameters. */
const STORED = `pg_partition_tree(target) as part join pg_class on pg_class.oid = part.relid where part.isleaf`;
const STORED_OR_SELF = `(select pg_class.oid, reloptions from ${STORED} union select oid, reloptions from pg_class where oid = target and relkind = 'r') as stored`;

/** Leaves alone what somebody has chosen for this table. */
export function autovacuumSteps(): Step[] {
  return Object.entries(SETTINGS).map(([name, value]) => {
    const unset = `coalesce(array_to_string(reloptions, ','), '') !~ '(^|,)${name}='`;
    return {
      missing: `exists (select from ${STORED_OR_SELF} where ${unset})`,
      apply: `execute (select string_agg(format('alter table %s set (${name} = ${value})', oid::regclass), '; ') from ${STORED_OR_SELF} where ${unset});`,
    };
  });
}
