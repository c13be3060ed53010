import { createServer, type Server } from 'node:http';
import { createLeasehold, type Leasehold, type LeaseholdOptions, type RoleLease } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import {
  type LeaseholdLifecycle,
  leaseholdLifecycle,
  type LeaseholdLifecycleOptions,
  type RoleHolderHandler,
  roleHolderProxy,
  type RoleHolderProxyOptions,
} from '@leasehold/express';
import type { Express } from 'express';
import { expect, onTestFinished } from 'vitest';
import type { Host } from './hosts.ts';
import { listenOn } from './listen.ts';

/** One copy of an application with the role `maintenance`. */
export interface Copy {
  readonly app: Express;
  readonly server: Server;
  readonly leasehold: Leasehold;
  readonly lease: RoleLease;
  readonly lifecycle: LeaseholdLifecycle;
  readonly label: string;
  readonly origin: string;
}

export interface CopyOptions {
  /** Rows to share with other copies. @default rows of its own */
  readonly database?: MemoryDatabase;
  readonly label?: string;
  readonly leasehold?: LeaseholdOptions;
  readonly proxy?: Partial<RoleHolderProxyOptions>;
  readonly lifecycle?: LeaseholdLifecycleOptions;
  /** Called before the proxy is mounted. */
  readonly before?: (copy: Parts, host: Host) => unknown;
  /** Called after the proxy: routes, as an application has them. */
  readonly routes?: (copy: Parts, host: Host) => unknown;
  /** Mounts the proxy. @default on the application */
  readonly mount?: (copy: Parts, proxy: RoleHolderHandler, host: Host) => unknown;
}

export type Parts = Pick<Copy, 'app' | 'leasehold' | 'lease' | 'label'>;

/** It listens and competes; closed when the test ends. */
export async function startCopy(host: Host, options: CopyOptions = {}): Promise<Copy> {
  const { database = new MemoryDatabase(), label = 'copy' } = options;
  const store = memoryStore({ database });
  const leasehold = createLeasehold({ store, instance: { label }, leaseDuration: '2s', ...options.leasehold });
  const lease = leasehold.role('maintenance');
  const app = host.express();
  const parts: Parts = { app, leasehold, lease, label };
  options.before?.(parts, host);
  const proxy = roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance'], ...options.proxy });
  if (options.mount === undefined) app.use(proxy);
  else options.mount(parts, proxy, host);
  options.routes?.(parts, host);
  const server = createServer(app);
  const lifecycle = leaseholdLifecycle(leasehold, server, { closeTimeout: 2_000, ...options.lifecycle });
  onTestFinished(() => lifecycle.close());
  const origin = await listenOn(server);
  await lifecycle.ready;
  return { ...parts, server, lifecycle, origin };
}

export interface Pair {
  readonly holder: Copy;
  readonly other: Copy;
  readonly database: MemoryDatabase;
}

/** Two copies: `holder` holds `maintenance`, and `other` knows where it is. */
export async function startPair(host: Host, options: Omit<CopyOptions, 'database' | 'label'> = {}): Promise<Pair> {
  const database = new MemoryDatabase();
  const holder = await startCopy(host, { ...options, database, label: 'holder' });
  const other = await startCopy(host, { ...options, database, label: 'other' });
  await expect.poll(() => other.lease.currentHolderAddress).toBe(holder.origin);
  return { holder, other, database };
}

/** Routes that say which copy ran them. */
export function whoRoutes({ app, label }: Parts): void {
  app.get('/maintenance/who', (_request, response) => void response.json({ by: label }));
  app.get('/who', (_request, response) => void response.json({ by: label }));
}

export async function reasonOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { reason?: unknown }).reason;
}
