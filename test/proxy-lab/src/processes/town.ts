import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '@leasehold/testing';
import { Admin } from '../../../lab/src/database/admin.ts';
import { ClockSampler } from '../../../lab/src/database/clock-sampler.ts';
import { createLabSchema } from '../../../lab/src/database/lab-schema.ts';
import { until } from '../../../lab/src/run/wait.ts';
import { Reaper } from '../../../support/reaper.ts';
import { withClient } from '../../../support/with-client.ts';
import { type InstanceConfig, ROLE } from '../instance/config.ts';
import { type Span, watchStalls } from '../stalls.ts';
import { InstanceProcess } from './instance-process.ts';

const SPAWN_DEADLINE_MS = 30_000;

export interface TownOptions {
  readonly server: PostgresServer;
  readonly name: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
}

/** All instances of one application on a database of their own, those that are gone included. */
export class Town implements AsyncDisposable {
  readonly everyone: InstanceProcess[] = [];
  readonly admin: Admin;
  readonly clock: ClockSampler;
  readonly databaseUrl: string;
  readonly folder: string;
  /** When this process, with all clients in it, did not run. */
  readonly ownStalls: Span[] = [];
  /** A run that found something keeps its logs. */
  keepsLogs = false;
  readonly #options: TownOptions;
  readonly #reaper = new Reaper();
  readonly #watch = watchStalls((stall) => this.ownStalls.push(stall));

  private constructor(options: TownOptions, databaseUrl: string, folder: string) {
    this.#options = options;
    this.databaseUrl = databaseUrl;
    this.folder = folder;
    this.admin = new Admin(databaseUrl);
    this.clock = new ClockSampler(databaseUrl);
  }

  static async found(options: TownOptions): Promise<Town> {
    const databaseUrl = await options.server.createDatabase(options.name);
    await withClient(databaseUrl, createLabSchema);
    return new Town(options, databaseUrl, await mkdtemp(join(tmpdir(), 'leasehold-proxy-lab-')));
  }

  get alive(): InstanceProcess[] {
    return this.everyone.filter((one) => one.isAlive && one.port > 0);
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  /** Starts an instance and waits until it takes requests. */
  async spawn(options: Partial<Pick<InstanceConfig, 'competes' | 'onRoleChange'>> = {}): Promise<InstanceProcess> {
    const { competes = true, onRoleChange = 'keep' } = options;
    const label = `${competes ? 'app' : 'gateway'}-${String(this.everyone.length + 1).padStart(2, '0')}`;
    const { databaseUrl, folder } = this;
    const logFile = join(folder, `${label}.jsonl`);
    const one = new InstanceProcess({ label, databaseUrl, logFile, leaseMs: this.leaseMs, competes, onRoleChange }, this.#reaper);
    this.everyone.push(one);
    return one.ready();
  }

  /** Who holds by the database's word, or undefined. */
  async holder(): Promise<InstanceProcess | undefined> {
    const holder = (await this.admin.holders()).get(ROLE);
    return this.everyone.find(({ instance }) => instance !== '' && instance === holder);
  }

  /** The holder, once there is one that is alive and not `former`. @throws {Error} when it takes too long. */
  async nextHolder(former?: InstanceProcess): Promise<InstanceProcess> {
    let holder: InstanceProcess | undefined;
    const took = await until(
      async () => {
        holder = await this.holder();
        return holder !== undefined && holder !== former && holder.isAlive;
      },
      { deadlineMs: SPAWN_DEADLINE_MS, signal: this.signal },
    );
    if (!took || holder === undefined) throw new Error('nobody took the role');
    return holder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.everyone.map((one) => one.kill()));
    this.#watch.stop();
    await this.clock.stop();
    await this.admin.close();
    this.#reaper.end();
    if (!this.keepsLogs) await rm(this.folder, { recursive: true, force: true });
  }
}
