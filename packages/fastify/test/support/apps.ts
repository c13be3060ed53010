import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy, type RoleHolderProxyPluginOptions, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { expect, onTestFinished } from 'vitest';

export interface CopyOptions {
  /** Rows to share with other copies. @default rows of its own */
  readonly database?: MemoryDatabase;
  readonly label?: string;
  readonly proxy?: Partial<RoleHolderProxyPluginOptions>;
  readonly fastify?: FastifyServerOptions;
  /** Called between the leases and the proxy. */
  readonly before?: (app: FastifyInstance) => void;
  /** Called after the proxy: routes, as an application has them. */
  readonly routes?: (app: FastifyInstance) => void;
}

/** One copy of an application with the role `maintenance`, not listening yet; closed when the test ends. */
export function createCopy(options: CopyOptions = {}): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true, ...options.fastify });
  onTestFinished(() => app.close());
  app.register(roleLeasePlugin, {
    store: memoryStore(options.database === undefined ? {} : { database: options.database }),
    instance: { label: options.label ?? 'copy' },
    leaseDuration: '2s',
    roles: ['maintenance'],
  });
  options.before?.(app);
  app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'], ...options.proxy });
  options.routes?.(app);
  return app;
}

export interface Pair {
  readonly holder: FastifyInstance;
  readonly other: FastifyInstance;
  readonly database: MemoryDatabase;
}

/** Two copies that listen: `holder` holds `maintenance`, and `other` knows where it is. */
export async function startPair(options: Omit<CopyOptions, 'database' | 'label'> = {}): Promise<Pair> {
  const database = new MemoryDatabase();
  const holder = createCopy({ ...options, database, label: 'holder' });
  await holder.listen({ host: '127.0.0.1', port: 0 });
  const other = createCopy({ ...options, database, label: 'other' });
  await other.listen({ host: '127.0.0.1', port: 0 });
  await expect.poll(() => other.roleLeases.get('maintenance').currentHolderAddress).toBe(origin(holder));
  return { holder, other, database };
}

export function origin(app: FastifyInstance): string {
  return app.listeningOrigin;
}

/** A route that says which copy ran it. */
export function whoRoutes(app: FastifyInstance): void {
  const answer = async (): Promise<object> => ({ by: app.leasehold.instance.label });
  app.get('/maintenance/who', answer);
  app.get('/who', answer);
}
