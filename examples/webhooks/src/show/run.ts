import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../../../../test/support/figures.ts';
import { Reaper } from '../../../../test/support/reaper.ts';
import { seededRandom, type ShowArguments } from '../../../run/src/show/arguments.ts';
import { Checklist } from '../../../run/src/show/checklist.ts';
import { conclude } from '../../../run/src/show/conclude.ts';
import { startDatabase } from '../../../run/src/show/database.ts';
import { createOutput } from '../../../run/src/show/screen-output.ts';
import { plain } from '../../../run/src/show/style.ts';
import { behaviourOf } from '../receiver/behaviour.ts';
import { Receiver } from '../receiver/receiver.ts';
import { mostTried } from '../receiver/waits.ts';
import { drawFrame } from '../view/frame.ts';
import { drawLadder } from '../view/ladder.ts';
import { drawTable } from '../view/table.ts';
import { makeEvents } from './application.ts';
import { Ledger } from './ledger.ts';
import { begin, deliver, finish, killOne, review } from './scenes.ts';
import type { Stage } from './stage.ts';
import { Workers } from './workers.ts';

const PAUSE_MS = 2_000;
const ASKED_MS = 1_000;
const LATENCY_MS = [50, 250] as const;

/** Plays the show, and leaves no process and no file behind, however it ends. Returns the exit code. */
export async function runShow(options: ShowArguments, signal: AbortSignal): Promise<number> {
  const { seed, ci } = options;
  const database = await startDatabase(new URL('../../schema.sql', import.meta.url));
  const { pool, connectionString, version } = database;
  const behaviour = behaviourOf.bind(null, seed);
  const receiver = new Receiver({ behaviour, latencyMs: LATENCY_MS, random: seededRandom(seed + 1), askedMs: ASKED_MS });
  const address = await receiver.open();
  const reaper = new Reaper();
  // Ends the application and the looks into the database before the processes.
  const watching = new AbortController();
  const workers = new Workers({ connectionString, reaper });
  const ledger = new Ledger(pool);
  const board = { postgres: version, workers, ledger, receiver };
  const output = createOutput(options, (text, size) => drawFrame(board, text, size));
  const checks = new Checklist(output);
  const pauseMs = ci ? 0 : PAUSE_MS;
  const table = (): string[] => drawTable(board);
  let events = Promise.resolve();
  const start = (): void => void (events = makeEvents(pool, address, watching.signal).catch(() => {}));
  const random = seededRandom(seed);
  const stage: Stage = { workers, ledger, receiver, checks, output, random, makeEvents: start, pauseMs, table, signal };
  const watched = Promise.all([workers.watch(watching.signal), ledger.watch(watching.signal)]);
  try {
    await play(stage);
    await sleep(pauseMs, undefined, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    checks.check(false, (error as Error).message);
  } finally {
    watching.abort();
    output.end();
    await workers.endAll();
    await Promise.all([watched, events]);
    await receiver.close();
    reaper.end();
    await database.stop();
  }
  // When the screen is gone: it is what somebody wants to keep.
  if (!ci) process.stdout.write(`\n${plain(drawLadder(receiver.log, mostTried(receiver.log)).join('\n'))}\n`);
  return conclude(options, { name: 'example:webhooks', postgres: version, checks });
}

async function play(stage: Stage): Promise<void> {
  await begin(stage);
  const beganAt = performance.now();
  for (const scene of [deliver, killOne, finish]) await scene(stage);
  // Without a target: on a busy machine it says how busy it is.
  const seconds = figure('untilAllDelivered', (performance.now() - beganAt) / 1_000, 's');
  await stage.workers.look();
  await review(stage);
  stage.checks.measure(seconds, `all this took ${seconds.value} s`);
}
