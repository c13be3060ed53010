import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startTcpProxy } from '@leasehold/testing';
import { Admin } from '../../../lab/src/database/admin.ts';
import { ClockSampler } from '../../../lab/src/database/clock-sampler.ts';
import { until } from '../../../lab/src/run/wait.ts';
import { isEven } from '../../../support/least-moves.ts';
import { Reaper } from '../../../support/reaper.ts';
import { withClient } from '../../../support/with-client.ts';
import { createPartitionLabSchema } from '../database/schema.ts';
import { COUNT, type InstanceConfig, roleNames } from '../instance/config.ts';
import { InstanceProcess } from './instance-process.ts';

const NOW = 'select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as now';

export interface TownOptions {
  readonly server: PostgresServer;
  readonly name: string;
  readonly leaseMs: number;
  readonly seed: number;
  readonly takesTurns: boolean;
  readonly signal: AbortSignal;
}

/** All instances of one application on a database of their own, those that are gone included. */
export class Town implements AsyncDisposable {
  readonly everyone: InstanceProcess[] = [];
  readonly admin: Admin;
  readonly clock: ClockSampler;
  readonly databaseUrl: string;
  readonly folder: string;
  /** Processes that ended though nobody had told them to. */
  readonly deaths: string[] = [];
  /** A run that found something keeps its logs. */
  keepsLogs = false;
  readonly #options: TownOptions;
  readonly #reaper = new Reaper();

  private constructor(options: TownOptions, databaseUrl: string, folder: string) {
    this.#options = options;
    this.databaseUrl = databaseUrl;
    this.folder = folder;
    this.admin = new Admin(databaseUrl);
    this.clock = new ClockSampler(databaseUrl);
  }

  static async found(options: TownOptions): Promise<Town> {
    const databaseUrl = await options.server.createDatabase(options.name);
    await withClient(databaseUrl, createPartitionLabSchema);
    return new Town(options, databaseUrl, await mkdtemp(join(tmpdir(), 'leasehold-partition-lab-')));
  }

  /** Who takes part, and is not frozen or cut off. */
  get well(): InstanceProcess[] {
    return this.everyone.filter((one) => one.isAlive && !one.ill);
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Begins to start an instance; `start()` of it tells how that went. */
  async launch(options: Partial<Pick<InstanceConfig, 'count' | 'startup'>> = {}): Promise<InstanceProcess> {
    const { count = COUNT, startup = 'wait' } = options;
    const { server, leaseMs, seed, takesTurns } = this.#options;
    const proxy = await startTcpProxy({ targetPort: server.port });
    const number = this.everyone.length + 1;
    const label = `app-${String(number).padStart(3, '0')}`;
    const config: InstanceConfig = {
      label,
      count,
      startup,
      leaseMs,
      takesTurns,
      storeUrl: proxy.connectionString(this.databaseUrl),
      appUrl: this.databaseUrl,
      logFile: join(this.folder, `${label}.jsonl`),
      seed: seed * 1_000 + number,
    };
    const one = new InstanceProcess(config, proxy, this.#reaper);
    this.everyone.push(one);
    void this.#mourn(one);
    return one;
  }

  async #mourn(one: InstanceProcess): Promise<void> {
    const { code, signal } = await one.exited;
    if (!one.stopping) this.deaths.push(`${one.config.label} ended by itself (${signal ?? `exit code ${code}`})`);
  }

  /** Starts an instance and waits until it takes part. @throws {Error} when it is refused. */
  async spawn(): Promise<InstanceProcess> {
    const one = await this.launch();
    const refused = await one.start();
    if (refused !== null) throw new Error(`${one.config.label} was refused: ${refused}`);
    return one;
  }

  /** The database's clock, in microseconds. @throws {Error} when it does not answer. */
  async now(): Promise<number> {
    const [row] = (await this.admin.ask<{ now: string }>(NOW)) ?? [];
    if (row === undefined) throw new Error('the database did not tell its time');
    return Number(row.now);
  }

  /** False when those who are well do not hold all roles evenly within `deadlineMs`. */
  even(deadlineMs: number): Promise<boolean> {
    const roles = roleNames(COUNT);
    const members = (): string[] => this.well.map(({ instance }) => instance);
    return until(async () => isEven(await this.admin.holders(), members(), roles), { deadlineMs, signal: this.signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.everyone.map((one) => one.kill()));
    await Promise.all(this.everyone.map(({ proxy }) => proxy.stop()));
    await this.clock.stop();
    await this.admin.close();
    this.#reaper.end();
    if (!this.keepsLogs) await rm(this.folder, { recursive: true, force: true });
  }
}
