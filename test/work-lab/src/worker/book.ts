import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { WriteLine } from '../../../lab/src/worker/log-file.ts';
import { Failure } from './behave.ts';
import type { Booked } from '../checker/history.ts';
import type { Line } from './config.ts';
import type { Run } from './runs.ts';

const BOOK = 'insert into lab.booking (row_id, claim) values ($1, $2)';

export interface Books {
  readonly pool: pg.Pool;
  readonly write: WriteLine<Line>;
  /** How long the transaction stays open between its writes. */
  readonly pauseMs: number;
}

/** Writes a business row and finishes the row beside it: both, or neither. @throws {Failure} when it did not, or nobody knows. */
export async function book(run: Run, { pool, write, pauseMs }: Books): Promise<void> {
  const { claimId: claim } = run.job;
  const tell = (end: Booked['end']): void => write({ k: 'booked', row: run.row.id, claim, end });
  const client = await pool.connect();
  let isOver = false;
  let isCommitting = false;
  try {
    await client.query('begin');
    await client.query(BOOK, [run.row.id, claim]);
    await sleep(pauseMs);
    await run.job.finalize(client, { written_by: claim, via: 'booking' });
    isCommitting = true;
    await client.query('commit');
    isOver = true;
    tell('committed');
  } catch (error) {
    isOver = !isCommitting && (await rolledBack(client));
    tell(isOver ? 'rolledBack' : 'unknown');
    throw new Failure(run, 'could not be booked', error);
  } finally {
    client.release(!isOver);
  }
}

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}
