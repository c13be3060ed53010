import { figure } from '../../../../test/support/figures.ts';
import { Reaper } from '../../../../test/support/reaper.ts';
import { seededRandom, type ShowArguments } from '../../../run/src/show/arguments.ts';
import { Checklist } from '../../../run/src/show/checklist.ts';
import { conclude } from '../../../run/src/show/conclude.ts';
import { startDatabase } from '../../../run/src/show/database.ts';
import { createOutput } from '../../../run/src/show/screen-output.ts';
import { drawFrame } from '../view/frame.ts';
import { Cluster } from './cluster.ts';
import { EventReader } from './event-stream.ts';
import { agree, freezeHolder, killHolder, review, stopGracefully } from './scenes.ts';
import type { Stage } from './stage.ts';
import { Traffic } from './traffic.ts';

const PAUSE_MS = 2_500;

/** Plays the demo, and leaves no process and no file behind, however it ends. Returns the exit code. */
export async function runDemo(options: ShowArguments, signal: AbortSignal): Promise<number> {
  const database = await startDatabase(new URL('../../schema.sql', import.meta.url));
  const reaper = new Reaper();
  // Ends the users before the copies.
  const users = new AbortController();
  const cluster = new Cluster({ connectionString: database.connectionString, reaper, signal });
  const traffic = new Traffic(cluster, users.signal);
  const reader = new EventReader(cluster, users.signal);
  const board = { postgres: database.version, cluster, traffic, reader };
  const output = createOutput(options, (text, size) => drawFrame(board, text, size));
  const checks = new Checklist(output);
  const pauseMs = options.ci ? 0 : PAUSE_MS;
  const stage = { cluster, database, traffic, reader, checks, output, random: seededRandom(options.seed), pauseMs, signal };
  try {
    const using = Promise.all([traffic.run(), reader.run()]);
    await play(stage);
    users.abort();
    await using;
  } catch (error) {
    if (signal.aborted) throw error;
    checks.check(false, (error as Error).message);
  } finally {
    users.abort();
    output.end();
    await cluster.end();
    reaper.end();
    await database.stop();
  }
  return conclude(options, { name: 'demo', postgres: database.version, checks });
}

const LONGEST_MS = 60_000;

async function play(stage: Stage): Promise<void> {
  const beganAt = performance.now();
  await agree(stage);
  await stopGracefully(stage);
  await killHolder(stage);
  await freezeHolder(stage);
  await review(stage);
  if (stage.pauseMs > 0) return;
  const seconds = figure('seconds', (performance.now() - beganAt) / 1_000, 's', `<= ${LONGEST_MS / 1_000}`);
  stage.checks.measure(seconds, `all this took ${seconds.value} s`);
}
