import 'reflect-metadata';
import type { Server, ServerOptions } from 'node:http';
import { installPartitionHolderProxy, installRoleHolderProxy, LEASEHOLD, LeaseholdModule } from '@leasehold/nestjs';
import { All, Controller, type INestApplication, Inject, Req, type Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { Host, Setting } from '../host.ts';
import { answerUpgrades, middlewareOf } from './common.ts';
import { nestVersion } from './nest-version.ts';

const EXECUTED = Symbol('executed');

/** Every path, as the router of the platform spells that. */
function localController(every: string): Type {
  @Controller()
  class LocalController {
    readonly #executed: Setting['executed'];

    constructor(@Inject(EXECUTED) executed: Setting['executed']) {
      this.#executed = executed;
    }

    @All(every)
    local(@Req() request: { readonly method: string; readonly url: string }): string {
      this.#executed({ method: request.method, url: request.url });
      return 'local';
    }
  }
  return LocalController;
}

const NOTHING_BEFORE = 'installRoleHolderProxy stands in front of all that an application can add';

interface Platform {
  readonly name: string;
  readonly adapter: (server: ServerOptions) => AbstractHttpAdapter;
  readonly controller: Type;
  readonly serverOptions: string | null;
}

const platforms: readonly Platform[] = [
  {
    name: 'Express',
    adapter: () => new ExpressAdapter(),
    controller: localController('*path'),
    serverOptions: 'Nest makes the server of Express itself, without options',
  },
  {
    name: 'Fastify',
    adapter: (http) => new FastifyAdapter({ http }),
    controller: localController('*'),
    serverOptions: null,
  },
];

export const nests: readonly Host[] = platforms.map((platform) => ({
  name: `Nest ${nestVersion} on ${platform.name}`,
  lacks: {
    before: NOTHING_BEFORE,
    serverOptions: platform.serverOptions,
    closing: null,
    freshResponses: null,
  },
  async start(setting) {
    const app = await createApp(setting, platform);
    app.use(middlewareOf(setting));
    const { leasehold, proxy } = setting;
    if ('role' in proxy) installRoleHolderProxy(app, proxy.role);
    else installPartitionHolderProxy(app, { leasehold, ...proxy.partition });
    await app.listen(0, '127.0.0.1');
    const server = app.getHttpServer() as Server;
    server.on('upgrade', answerUpgrades());
    return { server, close: () => app.close() };
  },
}));

/** With the default body parsers. */
async function createApp({ leasehold, server, executed }: Setting, platform: Platform): Promise<INestApplication> {
  const parts = {
    imports: [LeaseholdModule.forRoot()],
    controllers: [platform.controller],
    providers: [{ provide: EXECUTED, useValue: executed }],
  };
  const compiled = await Test.createTestingModule(parts).overrideProvider(LEASEHOLD).useValue(leasehold).compile();
  return compiled.createNestApplication(platform.adapter(server), { logger: false });
}
