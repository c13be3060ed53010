import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StruckFault } from '../../../lab/src/checker/history.ts';
import { Admin } from '../../../lab/src/database/admin.ts';
import { ClockSampler } from '../../../lab/src/database/clock-sampler.ts';
import type { PlannedFault } from '../../../lab/src/plan/fault.ts';
import { planFaults } from '../../../lab/src/plan/plan-faults.ts';
import { Fleet } from '../../../lab/src/processes/fleet.ts';
import { randomInteger, seededRandom } from '../../../lab/src/random.ts';
import { Striker } from '../../../lab/src/run/striker.ts';
import { until, waitFor } from '../../../lab/src/run/wait.ts';
import { stopGracefully } from '../../../lab/src/verbs/stop.ts';
import type { Bench, Verb } from '../../../lab/src/verbs/verb.ts';
import { figure } from '../../../support/figures.ts';
import { withClient } from '../../../support/with-client.ts';
import { createWorkLabSchema } from '../database/schema.ts';
import { fill, produce, type ProducerOptions } from '../load/producer.ts';
import type { WorkLabOptions } from '../options.ts';
import type { Scenario } from '../scenario.ts';
import { LEASE_MS } from '../table.ts';
import { workVerbs } from '../verbs/index.ts';
import type { WorkerConfig } from '../worker/config.ts';
import { gather } from './evidence.ts';
import { judge } from './judge.ts';

const WORKER = fileURLToPath(new URL('../worker.ts', import.meta.url));
/** Every fourth worker settles in transactions of its own. */
const BOOKS_EVERY = 4;
/** Whatever strikes one worker is dealt twice as often as what strikes the database, and these again. */
const OFTEN: ReadonlySet<string> = new Set(['kill', 'freeze']);
const MEAN_GAP_MS = 1_000;
/** A long run has the time for all of it, and needs some for its rows. */
const LONG_MINUTES = 1;
const LONG_GAP_MS = 1_700;
const DRAIN_DEADLINE_MS = 120_000;
const LIVE = 'select count(*)::int as live from public.delivery where finished_at is null and buried_at is null';

/** Workers, producers and faults on one table, until every row is over. */
export const rows: Scenario = async ({ options, server, signal, show }) => {
  const databaseUrl = await server.createDatabase('work');
  await withClient(databaseUrl, createWorkLabSchema);
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-work-lab-'));
  const failures: string[] = [];
  const locked: StruckFault[] = [];
  const sampler = new ClockSampler(databaseUrl);
  const bench = makeBench({ server, admin: new Admin(databaseUrl), signal, failures });
  const { admin } = bench;
  const fleet = await startFleet(options, { bench, databaseUrl, folder, signal });
  const verbs = workVerbs(locked);
  const striker = new Striker({ bench, fleet, verbs, signal });
  let live = 0;
  show(() => `rows: ${striker.struck.length} faults · last ${striker.struck.at(-1)?.kind ?? 'none'} · ${live} rows to go`);
  const counting = setInterval(() => void liveRows(admin).then((count) => (live = count ?? live)), 1_000);
  try {
    const load: ProducerOptions = {
      admin,
      random: seededRandom(options.seed),
      rows: options.rows,
      seconds: options.minutes * 60,
      signal,
    };
    await fill(load);
    await Promise.all([striker.carryOut(plan(options, verbs)), produce(load)]);
    await makeWell(fleet);
    if (!(await drained(admin, signal))) failures.push(`rows were left ${DRAIN_DEADLINE_MS} ms after the last fault`);
    await Promise.all(fleet.slots.map(async ({ worker }) => worker !== null && stopGracefully(worker, bench)));
    const faults = [...striker.struck, ...locked];
    const evidence = await gather({ databaseUrl, folder, sampler, server, faults });
    const { figures, violations } = judge(evidence);
    const kinds = verbs.map(({ kind }) => figure(kind, striker.struck.filter((one) => one.kind === kind).length, ''));
    const all = [...figures, ...kinds, figure('faults', striker.struck.length, '', '>= 1')];
    const found = [...failures, ...evidence.logs.wrong, ...violations.map(({ check, what }) => `${check}: ${what}`)];
    const ok = found.length === 0 && all.every(({ ok: met }) => met);
    if (ok) await rm(folder, { recursive: true, force: true });
    else await writeFile(join(folder, 'failures.txt'), found.join('\n'));
    return { figures: all, failures: ok ? [] : [`logs are kept in ${folder}`, ...found] };
  } finally {
    clearInterval(counting);
    await fleet.destroy();
    await sampler.stop();
    await admin.close();
  }
};

/** What ends or freezes a worker comes more often than the rest. Nobody holds a role here that could be struck first. */
function plan(options: WorkLabOptions, verbs: readonly Verb[]): PlannedFault[] {
  const workers = verbs.filter(({ strikes }) => strikes === 'process');
  const often = workers.filter(({ kind }) => OFTEN.has(kind));
  const meanGapMs = options.minutes < LONG_MINUTES ? MEAN_GAP_MS : LONG_GAP_MS;
  const kinds = options.minutes < LONG_MINUTES ? [...verbs, ...often] : [...verbs, ...workers, ...often];
  const faults = planFaults({ ...options, roles: 1, kinds, meanGapMs });
  return faults.map((fault) => ({ ...fault, preferHolder: false }));
}

async function liveRows(admin: Admin): Promise<number | null> {
  return (await admin.ask<{ live: number }>(LIVE))?.[0]?.live ?? null;
}

function drained(admin: Admin, signal: AbortSignal): Promise<boolean> {
  return until(async () => (await liveRows(admin)) === 0, { deadlineMs: DRAIN_DEADLINE_MS, signal });
}

async function makeWell({ slots }: Fleet): Promise<void> {
  await Promise.all(slots.map(({ proxy }) => proxy.heal()));
  await Promise.all(slots.filter(({ worker }) => worker === null).map((slot) => slot.spawn()));
}

type BenchParts = Pick<Bench, 'server' | 'admin'> & { readonly signal: AbortSignal; readonly failures: string[] };

function makeBench({ server, admin, signal, failures }: BenchParts): Bench {
  return {
    server,
    admin,
    leaseMs: LEASE_MS,
    roles: [],
    wait: (ms) => waitFor(ms, signal),
    onFailure: (what) => void failures.push(what),
  };
}

interface FleetParts {
  readonly bench: Bench;
  readonly databaseUrl: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

function startFleet({ processes, seed }: WorkLabOptions, { bench, databaseUrl, folder, signal }: FleetParts): Promise<Fleet> {
  return Fleet.start({
    processes,
    databasePort: bench.server.port,
    databaseUrl,
    folder,
    program: WORKER,
    configOf: ({ label, logFile, url, index, random }): WorkerConfig => {
      return { label, logFile, url, seed: randomInteger(random, 2 ** 31), books: index % BOOKS_EVERY === 1 };
    },
    seed,
    signal,
    onFailure: bench.onFailure,
  });
}
