/** `pnpm run bench:partition [--json]`: what telling the owner of a key costs, and how a fair partition comes to be even. */
import { startPostgres } from '@leasehold/testing';
import { type Figure, report } from '../../../test/support/figures.ts';
import { progressDone } from '../support/progress.ts';
import { measureBalance, SEED } from './balance.ts';
import { measureHeartbeat } from './heartbeat.ts';
import { measureResolve } from './resolve.ts';

await using server = await startPostgres({ postgresFlags: ['-c', 'full_page_writes=on', '-c', 'autovacuum=on'] });
const figures: Figure[] = [
  ...(await measureResolve()),
  ...(await measureHeartbeat(server.connectionString)),
  ...(await measureBalance()),
];
progressDone();
process.exitCode = report(
  { name: 'bench:partition', seed: SEED, postgres: server.version, figures },
  { json: process.argv.includes('--json') },
);
