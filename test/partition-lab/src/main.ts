/** The command `lab:partition`: see README.md. */
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { POSTGRES_FLAGS } from '../../lab/src/database/lab-schema.ts';
import { type Figure, report } from '../../support/figures.ts';
import { type PartitionLabOptions, readOptions, type ScenarioName, USAGE } from './options.ts';
import { Progress } from './progress.ts';
import type { Scenario } from './scenario.ts';
import { conflict } from './scenarios/conflict.ts';
import { fleet } from './scenarios/fleet.ts';
import { rolling } from './scenarios/rolling.ts';

const SHOWN = 20;

const scenarios: Record<ScenarioName, Scenario> = { fleet, rolling, conflict };

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function main(): Promise<number> {
  const options = parse();
  if (options === null) return 2;
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  console.error(`lab:partition: ${options.only.join(', ')}, seed ${options.seed}, Node ${process.versions.node}`);
  await using server = await startPostgres({ postgresFlags: POSTGRES_FLAGS });
  const { figures, failures } = await play(options, server, controller.signal);
  const { seed, json } = options;
  const peers = { node: process.versions.node };
  return report(
    { name: 'lab:partition', seed, postgres: server.version, peers, figures, failures: failures.slice(0, SHOWN) },
    { json },
  );
}

/** One scenario after the other: they would take each other's time. */
async function play(
  options: PartitionLabOptions,
  server: PostgresServer,
  signal: AbortSignal,
): Promise<{ figures: Figure[]; failures: string[] }> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const name of options.only) {
    let line = (): string => `${name}: setting up`;
    const progress = new Progress(() => line());
    try {
      const result = await scenarios[name]({ options, server, signal, show: (next) => void (line = next) });
      figures.push(...result.figures);
      failures.push(...result.failures);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      progress.stop();
    }
    if (signal.aborted) failures.push('interrupted');
    if (signal.aborted) break;
  }
  return { figures, failures };
}

function parse(): PartitionLabOptions | null {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return null;
  }
}
