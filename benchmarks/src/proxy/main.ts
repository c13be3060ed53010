/** The command `bench:proxy`: the proxy against its peers. See the README.md of the benchmarks. */
import { report } from '../../../test/support/figures.ts';
import { progressDone } from '../support/progress.ts';
import { readOrExplain } from '../support/read-or-explain.ts';
import { versionsOf } from '../support/version-of.ts';
import { Bench } from './bench.ts';
import { PEERS } from './contestants.ts';
import { measureForwarding } from './forwarding.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { measurePassThrough } from './pass-through.ts';
import { measureStreams } from './streams.ts';

const options = readOrExplain(readOptions, USAGE);
process.exitCode = options === null ? 2 : await run(options);

async function run({ effort, json }: BenchOptions): Promise<0 | 1> {
  using bench = new Bench(effort);
  const figures = [...(await measureStreams(bench)), ...(await measurePassThrough(bench)), ...(await measureForwarding(bench))];
  progressDone();
  const { failures } = bench;
  const peers = versionsOf(PEERS.map((peer) => peer.package));
  return report({ name: 'bench:proxy', seed: null, node: process.versions.node, peers, figures, failures }, { json });
}
