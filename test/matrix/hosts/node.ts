import { createServer } from 'node:http';
import { createRoleHolderProxy } from '@leasehold/proxy';
import type { Host } from '../host.ts';
import { answerUpgrades, closeServer, listening, setFields } from './common.ts';

/** A bare server, and the proxy as its first lines. */
export const nodeHttp: Host = {
  name: 'node:http',
  lacks: { before: null, serverOptions: null },
  async start({ leasehold, options, server: serverOptions, before, localFields, executed }) {
    const proxy = createRoleHolderProxy(leasehold, options);
    const server = createServer(serverOptions, (request, response) => {
      setFields(response, localFields);
      before?.(request, response);
      proxy.handle(request, response, () => {
        executed(request);
        response.end('local');
      });
    });
    const local = answerUpgrades();
    server.on('upgrade', (request, socket, head) => {
      if (!proxy.handleUpgrade(request, socket, head)) local(request, socket);
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
