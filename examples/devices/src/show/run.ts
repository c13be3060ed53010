import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../../../../test/support/figures.ts';
import { Reaper } from '../../../../test/support/reaper.ts';
import { seededRandom, type ShowArguments } from '../../../run/src/show/arguments.ts';
import { Checklist } from '../../../run/src/show/checklist.ts';
import { conclude } from '../../../run/src/show/conclude.ts';
import { startDatabase } from '../../../run/src/show/database.ts';
import { createOutput } from '../../../run/src/show/screen-output.ts';
import { DevicePark } from '../devices/device-park.ts';
import { drawFrame } from '../view/frame.ts';
import { drawTable } from '../view/table.ts';
import { Fleet } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { begin, command, grow, joinAgain, killOne, review, stopOne } from './scenes.ts';
import type { Stage } from './stage.ts';
import { Traffic } from './traffic.ts';

const PAUSE_MS = 3_000;

/** Plays the show, and leaves no process and no file behind, however it ends. Returns the exit code. */
export async function runShow(options: ShowArguments, signal: AbortSignal): Promise<number> {
  const database = await startDatabase(new URL('../../schema.sql', import.meta.url));
  const { pool, connectionString, version } = database;
  const { rows } = await pool.query<{ id: string }>('select id from device');
  const park = new DevicePark(rows.map(({ id }) => id));
  const reaper = new Reaper();
  // Ends the users and the looks into the database before the processes.
  const users = new AbortController();
  const fleet = new Fleet({ connectionString, gatewayPort: await park.open(), reaper });
  const ledger = new Ledger(pool);
  const random = seededRandom(options.seed);
  const traffic = new Traffic({ fleet, devices: park.ids, random: seededRandom(options.seed + 1), signal: users.signal });
  const board = { postgres: version, fleet, ledger, park, traffic };
  const output = createOutput(options, (text, size) => drawFrame(board, text, size));
  const checks = new Checklist(output);
  const pauseMs = options.ci ? 0 : PAUSE_MS;
  const moves = { made: 0, least: 0 };
  const table = (): string[] => drawTable(board);
  const stage: Stage = { fleet, ledger, park, traffic, checks, output, moves, random, pauseMs, table, signal };
  const using = Promise.all([traffic.run(), ledger.watch(users.signal)]);
  try {
    await play(stage);
    users.abort();
    await using;
    await review(stage);
    await sleep(pauseMs, undefined, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    checks.check(false, (error as Error).message);
  } finally {
    users.abort();
    output.end();
    await fleet.endAll();
    await using;
    await park.close();
    reaper.end();
    await database.stop();
  }
  return conclude(options, { name: 'example:devices', postgres: version, checks });
}

async function play(stage: Stage): Promise<void> {
  const beganAt = performance.now();
  for (const scene of [begin, grow, command, stopOne, killOne, joinAgain]) await scene(stage);
  // Without a target: on a busy machine it is the starts of the processes that take long.
  const seconds = figure('seconds', (performance.now() - beganAt) / 1_000, 's');
  if (stage.pauseMs === 0) stage.checks.measure(seconds, `all this took ${seconds.value} s`);
}
