import { roleLeasePlugin, type RoleLeasePluginOptions } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';

/** An application with the plugin and nothing else, not ready yet; closed when the test ends. */
export function createPluginApp(options: RoleLeasePluginOptions): FastifyInstance {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.register(roleLeasePlugin, options);
  return app;
}
