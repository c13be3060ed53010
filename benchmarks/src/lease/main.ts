/** `pnpm run bench:lease [--json]`: what keeping leases costs the database and the caller. */
import { startPostgres } from '@leasehold/testing';
import { type Figure, report } from '../../../test/support/figures.ts';
import { progressDone } from '../support/progress.ts';
import { measureIsHeld } from './is-held.ts';
import { measureRenewals } from './renewals.ts';
import { countConnections, measureTakeover } from './takeover.ts';

const ROLE_COUNTS = [1, 16, 1_000, 5_000];

await using server = await startPostgres({ postgresFlags: ['-c', 'full_page_writes=on', '-c', 'autovacuum=on'] });
const { connectionString } = server;
const figures: Figure[] = [];
for (const count of ROLE_COUNTS) figures.push(...(await measureRenewals(connectionString, count)));
figures.push(...(await measureTakeover(connectionString)));
figures.push(...(await countConnections(connectionString)));
figures.push(...(await measureIsHeld()));
progressDone();
process.exitCode = report(
  { name: 'bench:lease', seed: null, postgres: server.version, figures },
  { json: process.argv.includes('--json') },
);
