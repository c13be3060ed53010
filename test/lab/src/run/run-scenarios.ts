import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { type Figure, report } from '../../../support/figures.ts';
import { POSTGRES_FLAGS } from '../database/lab-schema.ts';
import { Progress } from './scenario-progress.ts';

const SHOWN = 20;

/** What every command that plays scenarios is asked. */
interface ScenarioOptions<Name extends string> {
  readonly only: readonly Name[];
  readonly seed: number;
  readonly json: boolean;
}

/** What a scenario works with. */
export interface ScenarioStage<Options> {
  readonly options: Options;
  readonly server: PostgresServer;
  /** Ends the run early, and leaves nothing behind. */
  readonly signal: AbortSignal;
  /** Shows how it goes; the last one given counts. */
  readonly show: (line: () => string) => void;
}

interface ScenarioResult {
  readonly figures: readonly Figure[];
  /** What was wrong, one line each. */
  readonly failures: readonly string[];
}

export type ScenarioOf<Options> = (stage: ScenarioStage<Options>) => Promise<ScenarioResult>;

export interface ScenarioCommand<Name extends string, Options extends ScenarioOptions<Name>> {
  /** As it is typed. */
  readonly name: string;
  readonly usage: string;
  /** Throws what is wrong with the arguments. */
  readonly readOptions: (args: string[]) => Options;
  readonly scenarios: Readonly<Record<Name, ScenarioOf<Options>>>;
}

/** Plays the scenarios that are asked for, reports their figures, and ends the process: 0, 1 for a miss, 2 for wrong arguments. */
export async function runScenarios<Name extends string, Options extends ScenarioOptions<Name>>(
  command: ScenarioCommand<Name, Options>,
): Promise<never> {
  try {
    process.exit(await run(command));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

async function run<Name extends string, Options extends ScenarioOptions<Name>>(
  command: ScenarioCommand<Name, Options>,
): Promise<number> {
  const options = parse(command);
  if (options === null) return 2;
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort(name));
  console.error(`${command.name}: ${options.only.join(', ')}, seed ${options.seed}, Node ${process.versions.node}`);
  await using server = await startPostgres({ postgresFlags: POSTGRES_FLAGS });
  const { figures, failures } = await play(command, { options, server, signal: controller.signal });
  const { seed, json } = options;
  const peers = { node: process.versions.node };
  return report(
    { name: command.name, seed, postgres: server.version, peers, figures, failures: failures.slice(0, SHOWN) },
    { json },
  );
}

/** One scenario after the other: they would take each other's time. */
async function play<Name extends string, Options extends ScenarioOptions<Name>>(
  { scenarios }: ScenarioCommand<Name, Options>,
  stage: Omit<ScenarioStage<Options>, 'show'>,
): Promise<{ figures: Figure[]; failures: string[] }> {
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const name of stage.options.only) {
    let line = (): string => `${name}: setting up`;
    const progress = new Progress(() => line());
    try {
      const result = await scenarios[name]({ ...stage, show: (next) => void (line = next) });
      figures.push(...result.figures);
      failures.push(...result.failures);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      progress.stop();
    }
    if (stage.signal.aborted) failures.push('interrupted');
    if (stage.signal.aborted) break;
  }
  return { figures, failures };
}

function parse<Name extends string, Options extends ScenarioOptions<Name>>({
  readOptions,
  usage,
}: ScenarioCommand<Name, Options>): Options | null {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return null;
  }
}
