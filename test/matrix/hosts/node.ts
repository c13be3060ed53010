import { createServer } from 'node:http';
import { createPartitionHolderProxy, createRoleHolderProxy } from '@leasehold/proxy';
import type { Host } from '../host.ts';
import { answerUpgrades, closeServer, listening, middlewareOf } from './common.ts';

/** A bare server, and the proxy as its first lines. */
export const nodeHttp: Host = {
  name: 'node:http',
  lacks: {
    before: null,
    serverOptions: null,
    closing: 'a bare server is closed by what its owner writes',
    freshResponses: null,
  },
  async start(setting) {
    const { leasehold, proxy: form, executed } = setting;
    const before = middlewareOf(setting);
    const proxy =
      'role' in form ? createRoleHolderProxy(leasehold, form.role) : createPartitionHolderProxy(leasehold, form.partition);
    const server = createServer(setting.server, (request, response) => {
      const local = (): void => {
        executed(request);
        response.end('local');
      };
      before(request, response, () => proxy.handle(request, response, local));
    });
    const answer = answerUpgrades();
    server.on('upgrade', (request, socket, head) => {
      if (!proxy.handleUpgrade(request, socket, head)) answer(request, socket);
    });
    leasehold.advertise(await listening(server));
    return {
      server,
      async close() {
        proxy.close();
        await closeServer(server);
      },
    };
  },
};
