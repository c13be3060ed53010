import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../../../../test/support/figures.ts';
import { Reaper } from '../../../../test/support/reaper.ts';
import { seededRandom, type ShowArguments } from '../../../run/src/show/arguments.ts';
import { Checklist } from '../../../run/src/show/checklist.ts';
import { conclude } from '../../../run/src/show/conclude.ts';
import { startDatabase } from '../../../run/src/show/database.ts';
import { createOutput } from '../../../run/src/show/screen-output.ts';
import { drawFrame } from '../view/frame.ts';
import { drawTable } from '../view/table.ts';
import { Customers } from './customers.ts';
import { Fleet } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { review } from './review.ts';
import { begin, killOne, moveRole, poison, stopOne } from './scenes.ts';
import type { Stage } from './stage.ts';

const PAUSE_MS = 3_000;

/** Plays the show, and leaves no process and no file behind, however it ends. Returns the exit code. */
export async function runShow(options: ShowArguments, signal: AbortSignal): Promise<number> {
  const database = await startDatabase(new URL('../../schema.sql', import.meta.url));
  const { pool, connectionString, version } = database;
  const reaper = new Reaper();
  const [open, looking] = [new AbortController(), new AbortController()];
  const fleet = new Fleet({ connectionString, reaper });
  const ledger = new Ledger(pool);
  const customers = new Customers({ fleet, random: seededRandom(options.seed), signal: open.signal });
  const board = { postgres: version, fleet, ledger, customers };
  const output = createOutput(options, (text, size) => drawFrame(board, text, size));
  const checks = new Checklist(output);
  const [shopping, watching] = [customers.run(), ledger.watch(looking.signal)];
  const closeShop = async (): Promise<void> => {
    open.abort();
    await shopping;
  };
  const pauseMs = options.ci ? 0 : PAUSE_MS;
  const table = (): string[] => drawTable(board);
  const stage: Stage = { fleet, ledger, customers, pool, checks, output, pauseMs, table, closeShop, signal };
  try {
    await play(stage);
  } catch (error) {
    if (signal.aborted) throw error;
    checks.check(false, (error as Error).message);
  } finally {
    output.end();
    open.abort();
    looking.abort();
    await fleet.endAll();
    await Promise.all([shopping, watching]);
    reaper.end();
    await database.stop();
  }
  return conclude(options, { name: 'example:outbox', postgres: version, checks });
}

async function play(stage: Stage): Promise<void> {
  const beganAt = performance.now();
  for (const scene of [begin, moveRole, stopOne, killOne, poison, review]) await scene(stage);
  // Without a target: on a busy machine it is the starts of the processes that take long.
  const seconds = figure('seconds', (performance.now() - beganAt) / 1_000, 's');
  if (stage.pauseMs === 0) stage.checks.measure(seconds, `all this took ${seconds.value} s`);
  await sleep(stage.pauseMs, undefined, { signal: stage.signal });
}
