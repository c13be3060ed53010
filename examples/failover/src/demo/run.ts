import { figure, report } from '../../../../test/support/figures.ts';
import { type Output, PlainOutput } from '../view/output.ts';
import { canDraw, ScreenOutput } from '../view/screen-output.ts';
import { type DemoArguments, seededRandom } from './arguments.ts';
import { Checklist } from './checklist.ts';
import { Cluster } from './cluster.ts';
import { type DemoDatabase, startDatabase } from './database.ts';
import { EventReader } from './event-stream.ts';
import { Reaper } from '../../../../test/support/reaper.ts';
import { agree, freezeHolder, killHolder, review, stopGracefully } from './scenes.ts';
import type { Stage } from './stage.ts';
import { Traffic } from './traffic.ts';

const PAUSE_MS = 2_500;

/** Plays the demo, and leaves no process and no file behind, however it ends. Returns the exit code. */
export async function runDemo(options: DemoArguments, signal: AbortSignal): Promise<number> {
  const database = await startDatabase();
  const reaper = new Reaper();
  // Ends the users before the copies.
  const users = new AbortController();
  const cluster = new Cluster({ connectionString: database.connectionString, reaper, signal });
  const traffic = new Traffic(cluster, users.signal);
  const reader = new EventReader(cluster, users.signal);
  const output = createOutput(options, { postgres: database.version, cluster, traffic, reader });
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
  return conclude(options, database, checks);
}

function createOutput(options: DemoArguments, board: ConstructorParameters<typeof ScreenOutput>[0]): Output {
  const draws = !options.ci && !options.json && canDraw();
  return draws ? new ScreenOutput(board) : new PlainOutput({ steps: !options.ci });
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

function conclude({ json, seed }: DemoArguments, database: DemoDatabase, checks: Checklist): 0 | 1 {
  const { figures, failures } = checks;
  const run = { name: 'demo', seed, postgres: database.version, figures, failures };
  const missed = figures.filter(({ ok }) => !ok).map(({ name, value, unit }) => `${name} is ${value} ${unit}`);
  const verdict = [...failures, ...missed].join('; ');
  const sayVerdict = (): void => void process.stdout.write(verdict === '' ? 'demo: ok\n' : `demo: FAILED: ${verdict}\n`);
  if (json) sayVerdict();
  const code = report(run, { json });
  if (!json) sayVerdict();
  return code;
}
