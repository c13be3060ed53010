import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Holdings } from '../../../../test/support/least-moves.ts';

/** The partition of `app.ts`. */
const COUNT = 64;
export const ROLES: readonly string[] = Array.from({ length: COUNT }, (_, place) => `devices:partition-${place}`);

const POLL_MS = 100;

const HOLDERS = 'select role, holder from leasehold.role_lease where holder is not null and expires_at > clock_timestamp()';

/** Every term that ever was. The current ones are in `role_lease`. */
const TERMS = `
  with term as (
    select role, fencing_token, holder, acquired_at, ended_at from leasehold.role_term
    union all
    select role, fencing_token, holder, acquired_at, null from leasehold.role_lease where holder is not null
  )`;

const BEGUN = `${TERMS} select count(*)::int as value from term where acquired_at >= $1::timestamptz`;

/** For each role its first term; of those the last. */
const TAKEN = `${TERMS}, taken as (
    select min(acquired_at) as at from term where acquired_at >= $1::timestamptz and role = any($2) group by role
  )
  select (extract(epoch from max(at) - $1::timestamptz) * 1000)::float8 as value from taken`;

const HISTORY = `${TERMS}, ordered as (
    select *, lag(ended_at) over by_time as last_ended_at, lag(fencing_token) over by_time as last_token
    from term window by_time as (partition by role order by acquired_at)
  )
  select
    (select count(*)::int from term) as terms,
    (select count(*)::int from ordered where acquired_at < last_ended_at) as overlaps,
    (select count(*)::int from ordered where fencing_token <= last_token) as "fallingTokens",
    (select count(*)::int from device_command) as commands,
    (select count(*)::int from device_command c where not exists (
      select from term t where t.role = c.role and t.fencing_token = c.fencing_token and t.holder = c.instance
      and c.written_at >= t.acquired_at and c.written_at <= coalesce(t.ended_at, 'infinity')
    )) as "commandsOutsideTheirTerm"`;

/** What PostgreSQL recorded, by its own clock. */
export interface History {
  readonly terms: number;
  /** Pairs of terms of one role of which the later began before the earlier had ended. */
  readonly overlaps: number;
  /** Terms whose token is not higher than that of the term before. */
  readonly fallingTokens: number;
  readonly commands: number;
  /** Commands whose owner wrote them down at a time at which it was not, or under a token that was not its own. */
  readonly commandsOutsideTheirTerm: number;
}

/** Looks into PostgreSQL who holds what: the processes are not asked. */
export class Ledger {
  readonly #pool: pg.Pool;
  /** Label of the holder, by role. */
  holdings: Holdings = new Map();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // The tables are made by the first process.
      this.holdings = await this.#look().catch(() => this.holdings);
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #look(): Promise<Holdings> {
    const { rows } = await this.#pool.query<{ role: string; holder: string }>(HOLDERS);
    return new Map(rows.map(({ role, holder }) => [role, labelOf(holder)]));
  }

  /** The partitions that the process has. */
  rolesOf(label: string): string[] {
    return [...this.holdings].filter(([, holder]) => holder === label).map(([role]) => role);
  }

  /** How many they are. */
  count(label: string): number {
    return this.rolesOf(label).length;
  }

  /** The time by the clock of the database. */
  async now(): Promise<string> {
    const { rows } = await this.#pool.query<{ now: string }>('select clock_timestamp()::text as now');
    return (rows[0] as { now: string }).now;
  }

  /** How many terms began after that time. */
  begunSince(time: string): Promise<number> {
    return this.#number(BEGUN, [time]);
  }

  /** How long after that time the last of the roles was taken, in milliseconds. */
  takenAfter(time: string, roles: readonly string[]): Promise<number> {
    return this.#number(TAKEN, [time, roles]);
  }

  async #number(sql: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#pool.query<{ value: number | null }>(sql, values);
    return rows[0]?.value ?? Number.NaN;
  }

  async history(): Promise<History> {
    return (await this.#pool.query<History>(HISTORY)).rows[0] as History;
  }
}

/** An instance id is its label and a random suffix. */
function labelOf(instance: string): string {
  return instance.slice(0, instance.lastIndexOf('-'));
}
