/** One worker of the application under test: a process that claims rows, works on them, and writes down what it was told. */
import pg from 'pg';
import { seededRandom } from '../../lab/src/random.ts';
import { blockLoop } from '../../lab/src/worker/block-loop.ts';
import type { Command, Ready } from '../../lab/src/worker/commands.ts';
import { openLogFile } from '../../lab/src/worker/log-file.ts';
import { backoffMs, deliveries, LEASE_MS, POLL_MS } from './table.ts';
import { behave, drawBehaviour, Failure, TIMEOUT_MS } from './worker/behave.ts';
import { book } from './worker/book.ts';
import type { Line, WorkerConfig } from './worker/config.ts';
import { codeOf, recordWork } from './worker/record.ts';
import { type Run, Runs } from './worker/runs.ts';

const CONCURRENCY = 8;
const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 1_000;
const LONGEST_BOOKING_MS = 40;

const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
const { write } = openLogFile<Line>(config.logFile);
const random = seededRandom(config.seed);
const runs = new Runs(write);
const pool = openPool();
/** Handlers that have taken all clients must not keep the worker from its rows. */
const ownPool = openPool();
// A client whose session the server ends while a handler has it reports it here; it may do so in the moment in which it is lent.
ownPool.on('connect', (client) => client.on('error', () => {}));
recordWork(write);

// A lab that is gone must leave nobody behind.
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => void stop());
process.on('message', ({ do: what, ...more }: Command) => {
  if (what === 'blockLoop' && 'ms' in more) blockLoop(more.ms, () => runs.look());
});

const worker = deliveries.work(pool, {
  handler: (row, job) => runs.watch(row, job, (run) => handle(run)),
  concurrency: CONCURRENCY,
  lease: LEASE_MS,
  timeout: TIMEOUT_MS,
  backoff: (attempt) => backoffMs(attempt),
  errorColumn: 'error',
  minIdle: 50,
  maxIdle: POLL_MS,
  drainFor: 1_000,
});
const ready: Ready = { ready: config.label };
process.send?.(ready);

async function handle(run: Run): ReturnType<typeof behave> {
  const behaviour = drawBehaviour(random);
  try {
    if (run.row.nature === 'poison') throw new Failure(run, 'is poison');
    if (!config.books || behaviour !== 'works') return await behave(behaviour, run, random);
    await book(run, { pool: ownPool, write, pauseMs: random() * LONGEST_BOOKING_MS });
  } catch (error) {
    write({ k: 'refused', by: 'handler', code: codeOf(error) });
    throw error;
  }
}

function openPool(): pg.Pool {
  const { url, label } = config;
  const opened = new pg.Pool({
    connectionString: url,
    application_name: label,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // An idle client whose session the server ends reports it here; without a listener that would end the process.
  opened.on('error', () => {});
  return opened;
}

async function stop(): Promise<void> {
  await worker.stop();
  const { running, unsettled } = worker.stats();
  write({ k: 'stopped', running, unsettled });
  process.exit(0);
}
