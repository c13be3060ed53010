import { createServer } from 'node:http';
import { leaseholdLifecycle, partitionHolderProxy, roleHolderProxy } from '@leasehold/express';
import express from 'express';
import express4 from 'express4';
import type { Application, Host, Setting } from '../host.ts';
import { answerUpgrades, listening, middlewareOf } from './common.ts';

const POWERED_BY = 'Express sets X-Powered-By first, and Node then keeps fields by name: those of one name come together';

/** The tests use what both versions have, by the types of the later one. */
export const expresses: readonly Host[] = [
  hostOf('Express 4', express4 as unknown as typeof express),
  hostOf('Express 5', express),
];

function hostOf(name: string, create: typeof express): Host {
  const lacks = { before: null, serverOptions: null, closing: null, freshResponses: POWERED_BY };
  return { name, lacks, start: (setting) => start(create, setting) };
}

async function start(create: typeof express, setting: Setting): Promise<Application> {
  const { leasehold, proxy, executed } = setting;
  const app = create();
  app.use(middlewareOf(setting));
  app.use('role' in proxy ? roleHolderProxy(leasehold, proxy.role) : partitionHolderProxy(leasehold, proxy.partition));
  app.use(create.json(), create.urlencoded({ extended: false }), create.text());
  app.use((request, response) => {
    executed({ method: request.method, url: request.originalUrl });
    response.end('local');
  });
  const server = createServer(setting.server, app);
  const lifecycle = leaseholdLifecycle(leasehold, server);
  server.on('upgrade', answerUpgrades());
  await listening(server);
  await lifecycle.ready;
  return { server, close: () => lifecycle.close() };
}
