import { type Examination, SMALL_PAGES } from './examination.ts';
import { type Finding, finding } from './findings.ts';

const MANY_DEAD = 10_000;
const LARGE_ROWS = 100_000;

export function examineVacuum({ table, facts }: Examination): Finding[] {
  const { quoted } = table.table;
  const found: Finding[] = [];
  if (facts.autovacuumIsOff) {
    const fix = `Run "alter table ${quoted} reset (autovacuum_enabled)", or set autovacuum = on for the server.`;
    found.push(
      finding('autovacuum-off', `autovacuum is off for ${quoted}: dead row versions pile up before the rows that are due`, fix),
    );
  }
  if (facts.dead >= MANY_DEAD && facts.dead > (facts.rows ?? 0) / 2) {
    const message = `${quoted} has ${facts.dead} dead row versions, and ${facts.rows ?? 'an unknown number of'} rows`;
    found.push(
      finding(
        'dead-rows',
        message,
        `Run "vacuum ${quoted}". Where that removes few, look for an old snapshot; else run the SQL of ddl({ autovacuum: true }).`,
      ),
    );
  }
  if ((facts.rows ?? 0) >= LARGE_ROWS && !facts.hasVacuumSettings && !facts.autovacuumIsOff) {
    const message = `${quoted} has ${facts.rows} rows and no vacuum settings of its own`;
    found.push(finding('autovacuum-default', message, 'Run the SQL of ddl({ autovacuum: true }).'));
  }
  if (facts.rows === null && facts.pages >= SMALL_PAGES) {
    found.push(finding('never-analyzed', `${quoted} was never analyzed`, `Run "analyze ${quoted}".`));
  }
  return found;
}

/**
 * What holds back the horizon of vacuum for this database: dead versions that somebody might still see stay in the table and in the
 * claim index. Users without `pg_read_all_stats` see their own sessions alone. A slot has no age in time; its transactions are told.
 */
const SNAPSHOTS_SQL = `select what, age from (
  select format('process %s of %s (%s, "%s")', pid, usename, state, left(query, 60)) as what, extract(epoch from clock_timestamp() - xact_start) * 1000 as age
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and (backend_xmin is not null or backend_xid is not null) and backend_type = 'client backend'
  union all
  select format('prepared transaction "%s" of %s', gid, owner), extract(epoch from clock_timestamp() - prepared) * 1000
  from pg_prepared_xacts where database = current_database()
  union all
  select format('replication slot "%s", %s transactions behind', slot_name, age(xmin)), case when age(xmin) > 1000000 then 'infinity'::float8 end
  from pg_replication_slots where xmin is not null
) snapshots where age >= $1::float8 order by age desc limit 5`;

export async function examineSnapshots({ oldSnapshotMs, ask }: Examination): Promise<Finding[]> {
  const rows = await ask<{ what: string }>(SNAPSHOTS_SQL, [oldSnapshotMs]);
  if (rows.length === 0) return [];
  const fix =
    'End it: pg_terminate_backend(), "rollback prepared", pg_drop_replication_slot(); and set idle_in_transaction_session_timeout.';
  return [finding('old-snapshot', `vacuum removes nothing that came after ${rows.map(({ what }) => what).join('; ')}`, fix)];
}
