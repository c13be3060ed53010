import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { check, type Verdict } from '../checker/check.ts';
import type { History, StruckFault } from '../checker/history.ts';
import { Admin } from '../database/admin.ts';
import { ClockSampler } from '../database/clock-sampler.ts';
import { collect } from '../database/collect.ts';
import { createLabSchema, POSTGRES_FLAGS } from '../database/lab-schema.ts';
import { withClient } from '../../../support/with-client.ts';
import { roleName } from '../log/line.ts';
import { readLogs } from '../log/read-logs.ts';
import type { PlannedFault } from '../plan/fault.ts';
import { Fleet } from '../processes/fleet.ts';
import type { Place } from '../processes/slot.ts';
import { randomInteger } from '../random.ts';
import { verbs } from '../verbs/index.ts';
import type { Bench } from '../verbs/verb.ts';
import type { WorkerConfig } from '../worker/commands.ts';
import { finale } from './finale.ts';
import type { LabOptions } from './options.ts';
import { Progress } from './progress.ts';
import { Striker } from './striker.ts';
import { waitFor } from './wait.ts';

const WORKER = fileURLToPath(new URL('../worker.ts', import.meta.url));
const HOUR_MS = 3_600_000;

export interface RunOptions extends LabOptions {
  readonly plan: readonly PlannedFault[];
  /** Ends the run early, and leaves nothing behind. */
  readonly signal: AbortSignal;
  readonly quiet?: boolean;
  /** How fast the processes' monotonic clocks run: anything but 1 is sabotage, to see the checker find it. @default 1 */
  readonly monotonicRate?: number;
}

export interface LabResult {
  readonly verdict: Verdict;
  /** Those of the plan, without the freezes and stops of the finale. */
  readonly faults: readonly StruckFault[];
  readonly writes: { readonly all: number; readonly late: number };
  readonly refused: { readonly all: number; readonly late: number };
  /** Processes that ended by themselves, or did not end when told. */
  readonly failures: readonly string[];
  readonly folder: string;
  readonly postgres: string;
}

/** Runs the application, strikes it, and judges what happened. */
export async function runLab(options: RunOptions): Promise<LabResult> {
  await using server = await startPostgres({ postgresFlags: POSTGRES_FLAGS });
  const databaseUrl = await server.createDatabase('lab');
  await withClient(databaseUrl, createLabSchema);
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-lab-'));
  const failures: string[] = [];
  const lab = { options, server, databaseUrl, folder, failures };
  const { history, planned } = await makeHistory(lab);
  const refused = history.logs.map((log) => log.refused);
  return {
    verdict: check(history),
    faults: history.faults.slice(0, planned),
    writes: { all: history.writes.length, late: history.writes.filter(({ late }) => late).length },
    refused: {
      all: refused.reduce((sum, { all }) => sum + all, 0),
      late: refused.reduce((sum, { late }) => sum + late, 0),
    },
    failures,
    folder,
    postgres: server.version,
  };
}

interface Lab {
  readonly options: RunOptions;
  readonly server: PostgresServer;
  readonly databaseUrl: string;
  readonly folder: string;
  readonly failures: string[];
}

/** What happened, and how many of its faults were planned. */
async function makeHistory(lab: Lab): Promise<{ readonly history: History; readonly planned: number }> {
  const { options, databaseUrl, folder } = lab;
  const clock = new ClockSampler(databaseUrl);
  const bench = makeBench(lab);
  const fleet = await startFleet(lab);
  try {
    const striker = new Striker({ bench, fleet, verbs, signal: options.signal });
    await carryOut(striker, { bench, fleet, options });
    const planned = striker.struck.length;
    const { contests, watchedUntil } = await finale({ bench, fleet, striker, signal: options.signal });
    const history: History = {
      ...(await withClient(databaseUrl, collect)),
      leaseMs: options.leaseMs,
      logs: await readLogs(folder),
      faults: striker.struck,
      clock: await clock.stop(),
      contests,
      watchedUntil,
    };
    return { history, planned };
  } finally {
    await fleet.destroy();
    await clock.stop();
    await bench.admin.close();
  }
}

async function carryOut(
  striker: Striker,
  { bench, fleet, options }: { readonly bench: Bench; readonly fleet: Fleet; readonly options: RunOptions },
): Promise<void> {
  const { plan, minutes, quiet = false } = options;
  const progress = quiet ? null : new Progress({ bench, fleet, striker, planned: plan.length, minutes });
  try {
    await striker.carryOut(plan);
  } finally {
    progress?.stop();
  }
}

function makeBench({ options, server, databaseUrl, failures }: Lab): Bench {
  return {
    server,
    admin: new Admin(databaseUrl),
    leaseMs: options.leaseMs,
    roles: Array.from({ length: options.roles }, (_, index) => roleName(index)),
    wait: (ms) => waitFor(ms, options.signal),
    onFailure: (what) => void failures.push(what),
  };
}

function startFleet({ options, server, databaseUrl, folder, failures }: Lab): Promise<Fleet> {
  const { processes, seed, signal } = options;
  return Fleet.start({
    processes,
    databasePort: server.port,
    databaseUrl,
    folder,
    program: WORKER,
    configOf: (place) => workerConfig(place, options, databaseUrl),
    seed,
    signal,
    onFailure: (what) => void failures.push(what),
  });
}

/** The wall clock of each process is off in its own way. */
function workerConfig(
  { label, logFile, url, random }: Place,
  { roles, lease, monotonicRate = 1 }: RunOptions,
  appUrl: string,
): WorkerConfig {
  const seed = randomInteger(random, 2 ** 31);
  const wallOffsetMs = (randomInteger(random, 3) - 1) * HOUR_MS;
  return { label, roles, lease, storeUrl: url, appUrl, logFile, seed, wallOffsetMs, monotonicRate };
}
