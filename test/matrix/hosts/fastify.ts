import { partitionHolderProxy, roleHolderProxy } from '@leasehold/fastify';
import Fastify from 'fastify';
import type { Host } from '../host.ts';
import { answerUpgrades, middlewareOf, originOf } from './common.ts';

export const fastify: Host = {
  name: 'Fastify 5',
  lacks: { before: null, serverOptions: null, closing: null, freshResponses: null },
  async start({ leasehold, proxy, server, before, localFields, executed }) {
    const app = Fastify({ http: server });
    const middleware = middlewareOf({ before, localFields: {} });
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(localFields as Record<string, string | string[]>);
      middleware(request.raw, reply.raw, done);
    });
    if ('role' in proxy) app.register(roleHolderProxy, { leasehold, ...proxy.role });
    else app.register(partitionHolderProxy, { leasehold, ...proxy.partition });
    app.all('/*', (request, reply) => {
      executed({ method: request.method, url: request.raw.url ?? '' });
      reply.send('local');
    });
    app.server.on('upgrade', answerUpgrades());
    await app.listen({ host: '127.0.0.1', port: 0 });
    leasehold.advertise(originOf(app.server));
    return { server: app.server, close: () => app.close() };
  },
};
