/**
 * Runs three instances as processes on a throw-away PostgreSQL, takes the role from its holder in three ways, and writes
 * down who held it when: `pnpm run picture`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../packages/testing/src/index.ts';
import type { BeliefLine } from './instance.ts';
import type { FailoverRecording, RecordedEvent, Span } from './recording.ts';

const LEASE_MS = 3_000;
const INSTANCES = ['app-1', 'app-2', 'app-3'];

class Recorder {
  readonly #connectionString: string;
  readonly #client: pg.Client;
  readonly #running = new Map<string, ChildProcess>();
  readonly #events: (RecordedEvent & { readonly at: number })[] = [];
  readonly #beliefs: Span[] = [];
  readonly #ended = new Set<Span>();
  #startedAt = 0;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
    this.#client = new pg.Client({ connectionString });
  }

  async open(): Promise<void> {
    await this.#client.connect();
    this.#startedAt = Date.now();
  }

  async start(instance: string): Promise<void> {
    const script = new URL('instance.ts', import.meta.url);
    const execArgv = ['--conditions=@leasehold/source'];
    const child = fork(script, [instance, this.#connectionString, String(LEASE_MS)], { execArgv, silent: true });
    this.#running.set(instance, child);
    if (child.stdout === null) throw new Error('the instance has no standard output');
    child.stderr?.pipe(process.stderr);
    createInterface({ input: child.stdout }).on('line', (line) => this.#note(instance, JSON.parse(line) as BeliefLine));
    await once(child, 'message');
    this.#events.push({ at: this.#now(), instance, what: 'start' });
  }

  signal(instance: string, what: Exclude<RecordedEvent['what'], 'start'>): void {
    this.#events.push({ at: this.#now(), instance, what });
    this.#running.get(instance)?.kill(what);
    if (what !== 'SIGKILL') return;
    // Who is dead believes nothing.
    for (const belief of this.#beliefs) if (belief.instance === instance) this.#end(belief, this.#now());
  }

  /** The instance that holds now, once it is another than `not`. */
  async holder(not?: string): Promise<string> {
    for (;;) {
      const open = this.#beliefs.findLast((belief) => !this.#ended.has(belief) && belief.until > this.#now());
      if (open !== undefined && open.instance !== not) return open.instance;
      await sleep(10);
    }
  }

  #note(instance: string, { at, token, until }: BeliefLine): void {
    const open = this.#beliefs.findLast((belief) => belief.instance === instance && !this.#ended.has(belief));
    if (open !== undefined && open.token !== token) this.#end(open, at - this.#startedAt);
    if (token === null || until === null) return;
    if (open?.token === token) Object.assign(open, { until: until - this.#startedAt });
    else this.#beliefs.push({ instance, token, from: at - this.#startedAt, until: until - this.#startedAt });
  }

  /** A process that was frozen says late that its belief has ended: the deadline said it before. */
  #end(belief: Span, at: number): void {
    if (this.#ended.has(belief)) return;
    this.#ended.add(belief);
    Object.assign(belief, { until: Math.min(belief.until, at) });
  }

  async finish(): Promise<FailoverRecording> {
    const lengthMs = this.#now();
    const leases = await this.#readLeases();
    const postgres = await this.#client.query<{ server_version: string }>('show server_version');
    for (const child of this.#running.values()) child.kill('SIGKILL');
    await this.#client.end();
    return {
      postgres: postgres.rows[0]?.server_version.split(' ')[0] ?? '',
      node: process.versions.node,
      leaseMs: LEASE_MS,
      renewMs: LEASE_MS / 3,
      marginMs: (LEASE_MS * 2) / 15,
      lengthMs,
      instances: INSTANCES,
      events: this.#events,
      beliefs: this.#beliefs.map((belief) => ({ ...belief, until: Math.min(belief.until, lengthMs) })),
      leases: leases.map((lease) => ({ ...lease, until: Math.min(lease.until, lengthMs) })),
    };
  }

  /** Every term as the database has it: those that ended, and the one on the row. */
  async #readLeases(): Promise<FailoverRecording['leases']> {
    const { rows } = await this.#client.query<{
      holder: string;
      token: string;
      from: number;
      until: number;
      ended: string | null;
    }>(
      `select holder, fencing_token as token, ended_by as ended,
              extract(epoch from acquired_at)::float8 * 1000 as from, extract(epoch from ended_at)::float8 * 1000 as until
       from (select holder, fencing_token, acquired_at, ended_at, ended_by from leasehold.role_term
             union all
             select holder, fencing_token, acquired_at, expires_at, null from leasehold.role_lease where holder is not null) term
       order by fencing_token`,
    );
    return rows.map(({ holder, token, from, until, ended }) => ({
      instance: holder.slice(0, INSTANCES[0]?.length),
      token: Number(token),
      from: Math.round(from - this.#startedAt),
      until: Math.round(until - this.#startedAt),
      endedBy: ended,
    }));
  }

  #now(): number {
    return Date.now() - this.#startedAt;
  }
}

await using server = await startPostgres();
const recorder = new Recorder(server.connectionString);
await recorder.open();
for (const instance of INSTANCES) await recorder.start(instance);

await sleep(1_500);
const first = await recorder.holder();
recorder.signal(first, 'SIGTERM');
const second = await recorder.holder(first);
await sleep(1_000);
await recorder.start(first);

await sleep(1_000);
recorder.signal(second, 'SIGKILL');
const third = await recorder.holder(second);
await sleep(1_000);
await recorder.start(second);

await sleep(1_000);
recorder.signal(third, 'SIGSTOP');
await recorder.holder(third);
await sleep(1_200);
recorder.signal(third, 'SIGCONT');
await sleep(1_300);

const recording = await recorder.finish();
writeFileSync(new URL('../../docs/images/failover.json', import.meta.url), `${JSON.stringify(recording, null, 2)}\n`);
