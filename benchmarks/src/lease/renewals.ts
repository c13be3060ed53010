import { type HeartbeatRequest, type LeaseStore, silentLogger, type StoreCall } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import pg from 'pg';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { countQueries } from '../support/count-queries.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';
import { walPosition, walSince } from '../support/wal.ts';

const ROUNDS = 20;
const LEASE_MS = 600_000;
/** More roles than this one by one would only take longer, not say more. */
const ONE_BY_ONE_AT_MOST = 1_000;
const INSTANCE = { id: 'bench-0123456789abcdef', label: 'bench', address: 'http://10.0.0.17:3000' };

interface Holding {
  readonly store: LeaseStore;
  readonly roles: readonly string[];
  readonly request: HeartbeatRequest;
}

/** Renewing `count` roles: statements, WAL, HOT share and time, against one statement per role on the same server. */
export async function measureRenewals(connectionString: string, count: number): Promise<Figure[]> {
  progress(`renewals of ${count} roles`);
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  const schema = `bench_${count}`;
  const holding = await hold(connectionString, schema, count);
  try {
    const oneByOneMs = await measureOneByOne(admin, schema, holding);
    const ours = await measureHeartbeats(admin, schema, holding);
    return toFigures(count, { ...ours, oneByOneMs });
  } finally {
    await holding.store.close();
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  }
}

async function hold(connectionString: string, schema: string, count: number): Promise<Holding> {
  const store = postgresStore({ connectionString, schema });
  await store.open({ instance: INSTANCE, logger: silentLogger, longestCallMs: 60_000, wakeUp: () => {} }, within(60_000));
  const roles = Array.from({ length: count }, (_, n) => `role-${n}`);
  const empty = { instance: INSTANCE, instanceTtlMs: LEASE_MS, renew: [], acquire: [], observe: [] };
  const reply = await store.heartbeat(
    { ...empty, acquire: roles.map((role) => ({ role, leaseMs: LEASE_MS, tokenFloor: 0n })) },
    within(60_000),
  );
  const renew = reply.roles.map(({ role, fencingToken }) => ({ role, fencingToken }));
  return { store, roles, request: { ...empty, renew } };
}

interface Measured {
  readonly statements: number;
  readonly ms: number;
  readonly walBytes: number;
  readonly hotPercent: number;
}

async function measureHeartbeats(admin: pg.Client, schema: string, { store, roles, request }: Holding): Promise<Measured> {
  // The first write to a page after a checkpoint carries the whole page; that belongs to the checkpoint.
  await admin.query('checkpoint');
  await beat(store, request);
  await beat(store, request);
  const before = await updates(admin, schema);
  const [times, wal]: [number[], number[]] = [[], []];
  let statements = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const lsn = await walPosition(admin);
    const began = performance.now();
    statements += await countQueries(() => beat(store, request));
    times.push(performance.now() - began);
    wal.push((await walSince(admin, lsn)) / roles.length);
  }
  const after = await updates(admin, schema, before.all + ROUNDS * roles.length);
  const hotPercent = (100 * (after.hot - before.hot)) / (after.all - before.all);
  return { statements: statements / ROUNDS, ms: median(times), walBytes: median(wal), hotPercent };
}

async function beat(store: LeaseStore, request: HeartbeatRequest): Promise<void> {
  const { roles } = await store.heartbeat(request, within(60_000));
  const failed = roles.find(({ outcome }) => outcome !== 'renewed');
  if (failed !== undefined) throw new Error(`${failed.role} was not renewed: ${failed.outcome}`);
}

/** The statement that a careful team would write by hand, sent once per role. In milliseconds for all roles. */
async function measureOneByOne(admin: pg.Client, schema: string, { roles }: Holding): Promise<number> {
  const some = roles.slice(0, ONE_BY_ONE_AT_MOST);
  const text = `update ${schema}.role_lease set expires_at = clock_timestamp() + interval '600 seconds'
    where role = $1 and holder = $2 and fencing_token = 1 and expires_at > clock_timestamp()`;
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const began = performance.now();
    for (const role of some) await admin.query(text, [role, INSTANCE.id]);
    rounds.push(((performance.now() - began) * roles.length) / some.length);
  }
  return median(rounds);
}

function toFigures(
  count: number,
  { statements, ms, walBytes, hotPercent, oneByOneMs }: Measured & { oneByOneMs: number },
): Figure[] {
  const gated = count === 1_000;
  return [
    figure(`statementsPerHeartbeat@${count}`, statements, '', '= 1'),
    figure(`walBytesPerRenewal@${count}`, walBytes, 'bytes', gated ? '<= 160' : null),
    figure(`hotUpdates@${count}`, hotPercent, '%', gated ? '>= 90' : null),
    figure(`heartbeat@${count}`, ms, 'ms'),
    figure(`oneStatementPerRole@${count}`, oneByOneMs, 'ms'),
    figure(`speedUpOverOnePerRole@${count}`, oneByOneMs / ms, 'x', gated ? '>= 15' : null),
  ];
}

interface Updates {
  readonly all: number;
  readonly hot: number;
}

/** The server's counters arrive late: they are read until they have reached `atLeast`. */
async function updates(admin: pg.Client, schema: string, atLeast = 0): Promise<Updates> {
  const text = `select n_tup_upd::float8 as all, n_tup_hot_upd::float8 as hot from pg_stat_user_tables where schemaname = $1 and relname = 'role_lease'`;
  for (let tries = 0; tries < 200; tries += 1) {
    const { rows } = await admin.query<Updates>(text, [schema]);
    const [counters] = rows;
    if (counters !== undefined && counters.all >= Math.max(atLeast, 1)) return counters;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the statistics of role_lease did not arrive');
}

function within(timeoutMs: number): StoreCall {
  return { timeoutMs, signal: AbortSignal.timeout(timeoutMs) };
}
