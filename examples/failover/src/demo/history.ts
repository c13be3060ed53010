import type pg from 'pg';

/** What PostgreSQL recorded, by its own clock. */
export interface History {
  readonly terms: number;
  /** Pairs of terms of which the later began before the earlier had ended. */
  readonly overlaps: number;
  /** Terms whose token is not higher than that of the term before. */
  readonly fallingTokens: number;
  readonly runs: number;
  /** Runs of the job that were written outside the term whose token they carry. */
  readonly runsOutsideTheirTerm: number;
}

const TERMS = `
  with term as (
    select fencing_token, holder, acquired_at, ended_at from leasehold.role_term where role = 'maintenance'
    union all
    select fencing_token, holder, acquired_at, null from leasehold.role_lease where role = 'maintenance' and holder is not null
  )`;

const HISTORY = `${TERMS}, ordered as (
    select *, lag(ended_at) over by_time as last_ended_at, lag(fencing_token) over by_time as last_token
    from term window by_time as (order by acquired_at)
  )
  select
    (select count(*)::int from term) as terms,
    (select count(*)::int from ordered where acquired_at < last_ended_at) as overlaps,
    (select count(*)::int from ordered where fencing_token <= last_token) as "fallingTokens",
    (select count(*)::int from maintenance_run) as runs,
    (select count(*)::int from maintenance_run r where not exists (
      select from term t where t.fencing_token = r.fencing_token
      and r.ran_at >= t.acquired_at and r.ran_at <= coalesce(t.ended_at, 'infinity')
    )) as "runsOutsideTheirTerm"`;

export async function readHistory(pool: pg.Pool): Promise<History> {
  const { rows } = await pool.query<History>(HISTORY);
  return rows[0] as History;
}

/** When the lease of the current term runs out, in milliseconds of the database's clock. */
export async function readExpiry(pool: pg.Pool): Promise<number> {
  return readNumber(
    pool,
    "select extract(epoch from expires_at) * 1000 as value from leasehold.role_lease where role = 'maintenance'",
  );
}

/** When the term of this token began, in milliseconds of the database's clock. */
export async function readBegin(pool: pg.Pool, token: number): Promise<number> {
  return readNumber(pool, `${TERMS} select extract(epoch from acquired_at) * 1000 as value from term where fencing_token = $1`, [
    token,
  ]);
}

async function readNumber(pool: pg.Pool, sql: string, values: unknown[] = []): Promise<number> {
  const { rows } = await pool.query<{ value: string }>(sql, values);
  return Number(rows[0]?.value);
}
