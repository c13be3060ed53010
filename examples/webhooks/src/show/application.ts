import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

export const DELIVERIES = 300;
/** Those for a receiver that refuses whatever comes. */
export const REFUSED = 3;
const AT_ONCE = 20;
const PAUSE_MS = 200;

const INSERT = `
  insert into deliveries (url, payload)
  select case when event % $4 = 0 then $1 || '/refuses' else $1 || '/events' end, jsonb_build_object('event', event)
  from generate_series($2::int, $3::int) event`;

/** The application: something happens, and somebody is to be told of it. It knows nothing of the workers. */
export async function makeEvents(pool: pg.Pool, receiver: string, signal: AbortSignal): Promise<void> {
  for (let first = 1; first <= DELIVERIES && !signal.aborted; first += AT_ONCE) {
    await pool.query(INSERT, [receiver, first, first + AT_ONCE - 1, DELIVERIES / REFUSED]);
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
