import type pg from 'pg';
import { candidateScan, type CandidateScan, type PlanNode } from './candidate-scan.ts';

/** What lies before the rows that are due, in the order of their creation. */
export interface Scene {
  /** As in the names of figures. */
  readonly name: string;
  readonly rows: number;
  /** What has become of those rows since they were inserted. */
  readonly change: string;
}

export const SCENES: readonly Scene[] = [
  {
    name: '20000leased',
    rows: 20_000,
    change: `set lock_id = gen_random_uuid(), locked_until = clock_timestamp() + interval '1 hour'`,
  },
  { name: '50000future', rows: 50_000, change: `set locked_until = clock_timestamp() + interval '1 hour', attempts = 1` },
  { name: '500000finished', rows: 500_000, change: `set completed_at = clock_timestamp()` },
];

export const CLAIM_LIMIT = 50;
const BEFORE = `insert into deliveries (created_at) select clock_timestamp() - interval '1 hour' from generate_series(1, $1)`;
const DUE_ROWS = 1_000;
/** Not in the order in which they are due, so that hardly two of a claim are found on one page in a row. */
const DUE = `insert into deliveries (created_at) select clock_timestamp() - random() * interval '1 minute' from generate_series(1, $1)`;

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Inserts, changes and vacuums, so that the index holds what it would hold in an application, and explains the very claim.
 * With `heldBack`, a transaction that looks at the database since before keeps everything that vacuum would remove.
 */
export async function scanOf(pool: pg.Pool, scene: Scene, { claim, heldBack }: ScanOptions): Promise<CandidateScan> {
  await pool.query('truncate deliveries');
  await pool.query(BEFORE, [scene.rows]);
  await using _snapshot = heldBack ? await holdSnapshot(pool) : null;
  await pool.query(`update deliveries ${scene.change}`);
  await pool.query(DUE, [DUE_ROWS]);
  await pool.query('vacuum (analyze) deliveries');
  const scan = await explain(pool, claim);
  if (scan.rows !== CLAIM_LIMIT) throw new Error(`the claim found ${scan.rows} of ${CLAIM_LIMIT} rows`);
  return scan;
}

export interface ScanOptions {
  readonly claim: Statement;
  readonly heldBack: boolean;
}

async function holdSnapshot(pool: pg.Pool): Promise<AsyncDisposable> {
  const client = await pool.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select from deliveries limit 1');
  return {
    [Symbol.asyncDispose]: async () => {
      await client.query('rollback');
      client.release();
    },
  };
}

async function explain(pool: pg.Pool, { text, values }: Statement): Promise<CandidateScan> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      [...values],
    );
    await client.query('rollback');
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('no plan');
    return candidateScan(plan);
  } finally {
    client.release();
  }
}
