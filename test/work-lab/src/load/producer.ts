import type { Admin } from '../../../lab/src/database/admin.ts';
import { type Random, randomInteger } from '../../../lab/src/random.ts';
import { waitFor } from '../../../lab/src/run/wait.ts';

const EVERY_MS = 250;
/** One row among so many fails whoever works on it. */
const POISON_EVERY = 1_000;

const ADD = `
insert into public.delivery (created_at, nature)
select clock_timestamp() + n * $2::float8 * interval '1 second', case when n % ${POISON_EVERY} = 7 then 'poison' else 'plain' end
from generate_series(1, $1::int) n`;

/** The application writes another column of rows that are being worked on, locked in the order of ids. */
const CHANGE = `
update public.delivery set amount = amount + 1
where id in (
  select id from public.delivery
  where finished_at is null and buried_at is null and lock_id is not null and locked_until is not null
  order by id limit 30 for no key update skip locked
)`;

export interface ProducerOptions {
  readonly admin: Admin;
  readonly random: Random;
  readonly rows: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** This part of the rows is there from the beginning, and due over time. */
const SHARE_AT_FIRST = 0.8;
/** The last of them is due a little before the faults end. */
const DUE_SHARE = 0.95;
const BATCH = 5_000;

/** @throws {Error} when the database does not take them. */
export async function fill({ admin, rows, seconds }: ProducerOptions): Promise<void> {
  const count = Math.round(rows * SHARE_AT_FIRST);
  for (let start = 0; start < count; start += BATCH) {
    const size = Math.min(BATCH, count - start);
    if (!(await isAdded(admin, size, (seconds * DUE_SHARE) / size))) throw new Error(`the database did not take ${size} rows`);
  }
}

async function isAdded(admin: Admin, count: number, everySeconds: number): Promise<boolean> {
  return (await admin.ask(ADD, [count, everySeconds])) !== undefined;
}

/** Adds the rest of the rows, due at once, and changes rows under work, until the time is over. What a fault refuses is tried again. */
export async function produce({ admin, random, rows, seconds, signal }: ProducerOptions): Promise<void> {
  let left = Math.round(rows * (1 - SHARE_AT_FIRST));
  const endsAt = performance.now() + seconds * 1_000;
  while (left > 0 && !signal.aborted) {
    const turns = Math.max(1, (endsAt - performance.now()) / EVERY_MS);
    const count = Math.min(left, 1 + randomInteger(random, Math.ceil((2 * left) / turns)));
    if (await isAdded(admin, count, 0)) left -= count;
    await admin.ask(CHANGE);
    await waitFor(EVERY_MS, signal);
  }
}
