/** The command `bench:work`: leased work rows against their peers. See the README.md of the benchmarks. */
import { startPostgres } from '@leasehold/testing';
import { report } from '../../../test/support/figures.ts';
import { progressDone } from '../support/progress.ts';
import { readOrExplain } from '../support/read-or-explain.ts';
import { versionsOf } from '../support/version-of.ts';
import { CONTESTANTS } from './contestants.ts';
import { measureContestants } from './comparison.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { POSTGRES_FLAGS } from './server.ts';
import { measureScenes } from './scans.ts';

const options = readOrExplain(readOptions, USAGE);
process.exitCode = options === null ? 2 : await run(options);

async function run({ effort, json }: BenchOptions): Promise<0 | 1> {
  await using server = await startPostgres({ postgresFlags: POSTGRES_FLAGS });
  const compared = await measureContestants(server, effort);
  const figures = [...compared.figures, ...(await measureScenes(server, effort))];
  progressDone();
  const peers = versionsOf(CONTESTANTS.map((contestant) => contestant.package));
  const { failures } = compared;
  return report(
    { name: 'bench:work', seed: null, postgres: server.version, node: process.versions.node, peers, figures, failures },
    { json },
  );
}
