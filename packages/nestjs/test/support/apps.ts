import { type Leasehold, type LeaseStore, type RoleLease } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import {
  getRoleLeaseToken,
  installRoleHolderProxy,
  type InstallRoleHolderProxyOptions,
  LEASEHOLD,
  LeaseholdModule,
  type LeaseholdModuleOptions,
  type OwnLeaseholdSettings,
} from '@leasehold/nestjs';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { expect, onTestFinished } from 'vitest';

export const platforms = ['express', 'fastify'] as const;
export type Platform = (typeof platforms)[number];

export class RootModule {}

export function adapterOf(platform: Platform, forceCloseConnections = true): AbstractHttpAdapter {
  return platform === 'express' ? new ExpressAdapter() : (new FastifyAdapter({ forceCloseConnections }) as never);
}

/** An application of these parts, not initialised yet; closed when the test ends. */
export async function createApp(
  platform: Platform,
  parts: ModuleMetadata,
  forceCloseConnections = true,
): Promise<INestApplication> {
  const root = { module: RootModule, ...parts };
  const app = await NestFactory.create(root, adapterOf(platform, forceCloseConnections), {
    logger: false,
    forceCloseConnections,
    abortOnError: false,
  });
  onTestFinished(() => app.close());
  return app;
}

/** Of a module that makes its Leasehold itself. */
export type OwnSettings = OwnLeaseholdSettings & Pick<LeaseholdModuleOptions, 'roles'>;

export interface CopyOptions {
  /** Rows to share with other copies. @default rows of its own */
  readonly database?: MemoryDatabase;
  readonly store?: LeaseStore;
  readonly label?: string;
  readonly settings?: OwnSettings;
  readonly parts?: ModuleMetadata;
  readonly proxy?: Partial<InstallRoleHolderProxyOptions>;
  /** @default true */
  readonly forceCloseConnections?: boolean;
  /** Called before the proxy is installed, and after. */
  readonly before?: (app: INestApplication, label: string) => void | Promise<void>;
  readonly after?: (app: INestApplication) => void | Promise<void>;
}

/** One copy of an application with the role `maintenance` and a proxy for it, not listening yet. */
export async function createCopy(platform: Platform, options: CopyOptions = {}): Promise<INestApplication> {
  const { database = new MemoryDatabase(), label = 'copy', parts = {} } = options;
  const leases = LeaseholdModule.forRoot({
    store: options.store ?? memoryStore({ database }),
    instance: { label },
    leaseDuration: '2s',
    roles: ['maintenance'],
    ...options.settings,
  });
  const app = await createApp(platform, { ...parts, imports: [leases, ...(parts.imports ?? [])] }, options.forceCloseConnections);
  await options.before?.(app, label);
  installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'], ...options.proxy });
  await options.after?.(app);
  return app;
}

export async function startCopy(platform: Platform, options: CopyOptions = {}): Promise<INestApplication> {
  const app = await createCopy(platform, options);
  await app.listen(0, '127.0.0.1');
  return app;
}

export interface Pair {
  readonly holder: INestApplication;
  readonly other: INestApplication;
  readonly database: MemoryDatabase;
}

/** Two copies that listen: `holder` holds `maintenance`, and `other` knows where it is. */
export async function startPair(platform: Platform, options: Omit<CopyOptions, 'database' | 'label'> = {}): Promise<Pair> {
  const database = new MemoryDatabase();
  const holder = await startCopy(platform, { ...options, database, label: 'holder' });
  const other = await startCopy(platform, { ...options, database, label: 'other' });
  await knowsHolder(other, holder);
  return { holder, other, database };
}

export async function knowsHolder(app: INestApplication, holder: INestApplication): Promise<void> {
  const address = await holder.getUrl();
  await expect.poll(() => leaseOf(app).currentHolderAddress, { timeout: 5_000 }).toBe(address);
}

export function leaseholdOf(app: INestApplication): Leasehold {
  return app.get<Leasehold>(LEASEHOLD, { strict: false });
}

export function leaseOf(app: INestApplication, role = 'maintenance'): RoleLease {
  return app.get<RoleLease>(getRoleLeaseToken(role), { strict: false });
}
