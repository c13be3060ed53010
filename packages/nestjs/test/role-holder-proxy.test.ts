import { type LeaseholdErrorCode } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { installRoleHolderProxy, LeaseholdModule } from '@leasehold/nestjs';
import type { INestApplication, MiddlewareConsumer, NestModule, NestMiddleware } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createApp, createCopy, knowsHolder, leaseholdOf, leaseOf, platforms, startCopy, startPair } from './support/apps.ts';
import { readBody } from './support/body-parser.ts';
import { WhoController } from './support/controllers.ts';
import { openStream, openUpgrade, rawExchange, upgradeLines } from '../../../test/support/raw.ts';

const parts = { controllers: [WhoController] };

async function get(app: INestApplication, path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${await app.getUrl()}${path}`);
  return { status: answer.status, body: await answer.json() };
}

async function post(app: INestApplication, path: string, init: RequestInit): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${await app.getUrl()}${path}`, { method: 'POST', ...init });
  return { status: answer.status, body: await answer.json() };
}

describe.each(platforms)('on %s', (platform) => {
  test('under a prefix on the holder, elsewhere on the copy that was asked', async () => {
    const { holder, other } = await startPair(platform, { parts });
    for (const app of [holder, other]) expect((await get(app, '/maintenance/who')).body).toEqual({ by: 'holder' });
    expect((await get(holder, '/who')).body).toEqual({ by: 'holder' });
    expect((await get(other, '/who')).body).toEqual({ by: 'other' });
  });

  test('a global prefix is part of the path', async () => {
    const after = (app: INestApplication): void => void app.setGlobalPrefix('api');
    const { other } = await startPair(platform, { parts, after, proxy: { prefixes: ['/api/maintenance'] } });
    expect((await get(other, '/api/maintenance/who')).body).toEqual({ by: 'holder' });
    expect((await get(other, '/api/who')).body).toEqual({ by: 'other' });
  });

  test('a body reaches the holder with the default parsers, and is not parsed here', async () => {
    const { other } = await startPair(platform, { parts });
    const headers = { 'content-type': 'application/json' };
    const sent = await post(other, '/maintenance/echo', { headers, body: '{"a":1}' });
    expect(sent).toEqual({ status: 201, body: { by: 'holder', body: { a: 1 } } });
    expect((await post(other, '/maintenance/echo', { headers, body: '{' })).status).toBe(400);
    expect((await post(other, '/echo', { headers, body: '{"b":2}' })).body).toEqual({ by: 'other', body: { b: 2 } });
  });

  test.each(['before', 'after'] as const)('body parsers that the application adds %s the proxy do not read', async (when) => {
    const add = (app: INestApplication): void => {
      if (leaseholdOf(app).instance.label === 'other') app.use(readBody);
    };
    const { other } = await startPair(platform, { parts, [when]: add });
    const headers = { 'content-type': 'application/json' };
    const sent = await post(other, '/maintenance/echo', { headers, body: '{"a":1}' });
    expect(sent).toEqual({ status: 201, body: { by: 'holder', body: { a: 1 } } });
  });

  test('after init() too, and what runs before a handler does not run here', async () => {
    const seen: string[] = [];
    class Spy implements NestMiddleware {
      use(request: { originalUrl: string }, _response: unknown, next: () => void): void {
        seen.push(request.originalUrl);
        next();
      }
    }
    class SpyModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(Spy).forRoutes('{*path}');
      }
    }
    const database = new MemoryDatabase();
    const holder = await startCopy(platform, { database, label: 'holder', parts });
    const before = async (app: INestApplication): Promise<void> => void (await app.init());
    const other = await createCopy(platform, { database, label: 'other', parts: { ...parts, imports: [SpyModule] }, before });
    await other.listen(0, '127.0.0.1');
    await knowsHolder(other, holder);
    expect((await get(other, '/maintenance/who')).body).toEqual({ by: 'holder' });
    expect((await get(other, '/who')).body).toEqual({ by: 'other' });
    expect(seen).toEqual(['/who']);
  });

  test('an unknown route under a prefix is unknown to the holder', async () => {
    const { holder, other } = await startPair(platform, { parts });
    const answers = await Promise.all([holder, other].map((app) => get(app, '/maintenance/unknown')));
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });

  test('CORS of the holder is on the answer', async () => {
    const { other } = await startPair(platform, { parts, before: (app) => app.enableCors({ origin: 'https://app.test' }) });
    const answer = await fetch(`${await other.getUrl()}/maintenance/who`, { headers: { origin: 'https://app.test' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.test');
  });

  test('in the gap between two holders: 503 with Retry-After', async () => {
    const { holder, other } = await startPair(platform, { parts });
    await leaseholdOf(other).standAside();
    await holder.close();
    await expect.poll(() => leaseOf(other).currentHolder).toBe(null);
    const answer = await fetch(`${await other.getUrl()}/maintenance/who`);
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await answer.json()).toMatchObject({ reason: 'no-holder', role: 'maintenance' });
  });

  test('an event stream comes through, and does not keep the copy that it runs through from closing', async () => {
    const { other } = await startPair(platform, { parts, forceCloseConnections: false });
    const stream = await openStream(`${await other.getUrl()}/maintenance/events`);
    await expect.poll(() => stream.text()).toMatch(/data: holder\s[\s\S]*data: holder\s/);
    await other.close();
    expect(await stream.ended).toBe('broken');
  });

  test('an upgrade under a prefix goes to the holder, and a gateway of the other copy never sees it', async () => {
    const seen: string[] = [];
    const gateway = (app: INestApplication, label: string): void => {
      (app.getHttpServer() as Server).on('upgrade', ({ url }: IncomingMessage, socket: Duplex) => {
        seen.push(`${label}: ${url}`);
        socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n');
      });
    };
    const { holder, other } = await startPair(platform, { parts, before: gateway });
    for (const [app, path] of [
      [other, '/maintenance/a'],
      [other, '/b'],
      [holder, '/maintenance/c'],
    ] as const) {
      const answer = await rawExchange(await app.getUrl(), upgradeLines(path));
      expect(answer).toMatch(/^HTTP\/1\.1 426 /);
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
    expect(seen).toEqual(['holder: /maintenance/a', 'other: /b', 'holder: /maintenance/c']);
  });

  test('a tunnel does not keep the copy that it runs through from closing', async () => {
    const gateway = (app: INestApplication): void => {
      (app.getHttpServer() as Server).on('upgrade', (_request: IncomingMessage, socket: Duplex) => {
        socket
          .on('error', () => {})
          .on('end', () => socket.end())
          .resume();
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
      });
    };
    const { other } = await startPair(platform, { parts, before: gateway, forceCloseConnections: false });
    const tunnel = await openUpgrade(await other.getUrl(), '/maintenance/live');
    expect(tunnel.text).toMatch(/^HTTP\/1\.1 101 [\s\S]*hello$/);
    await other.close();
    await tunnel.closed;
  });

  test('without a gateway, a request that asks for an upgrade is a request like any other', async () => {
    const { other } = await startPair(platform, { parts });
    const lines = upgradeLines('/who').map((line) => line.replace('Connection: Upgrade', 'Connection: Upgrade, close'));
    expect(await rawExchange(await other.getUrl(), lines)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"by":"other"/);
  });

  test('while it closes, what is forwarded to it is refused and its connection closed', async () => {
    const { holder } = await startPair(platform, { parts });
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const running = leaseOf(holder).whileHeld(() => work);
    const url = `${await holder.getUrl()}/maintenance/who`;
    const closing = holder.close();
    await expect.poll(() => leaseOf(holder).isHeld).toBe(false);
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    endWork();
    await Promise.all([closing, running]);
  });

  test('two proxies for two roles', async () => {
    const settings = { roles: ['maintenance', 'reports'] };
    const after = (app: INestApplication): void => installRoleHolderProxy(app, { role: 'reports', prefixes: ['/who'] });
    const { holder, other } = await startPair(platform, { parts, settings, after });
    await expect.poll(() => leaseOf(other, 'reports').currentHolderAddress).not.toBe(null);
    expect((await get(other, '/who')).body).toEqual({ by: 'holder' });
    await leaseOf(holder, 'reports').stepDown();
    await expect.poll(() => leaseOf(other, 'reports').isHeld).toBe(true);
    expect((await get(other, '/who')).body).toEqual({ by: 'other' });
    expect((await get(other, '/maintenance/who')).body).toEqual({ by: 'holder' });
  });

  describe('refused', () => {
    test.each<[LeaseholdErrorCode, object]>([
      ['LEASEHOLD_INVALID_PREFIX', { prefixes: ['maintenance'] }],
      ['LEASEHOLD_INVALID_PREFIX', { prefixes: [] }],
      ['LEASEHOLD_INVALID_OPTION', { role: '' }],
      ['LEASEHOLD_INVALID_DURATION', { headTimeout: 'soon' }],
    ])('%s: %j', async (code, proxy) => {
      const created = createCopy(platform, { proxy });
      await expect(created).rejects.toMatchObject({ code });
    });

    test('without the module', async () => {
      const app = await createApp(platform, {});
      const install = (): void => installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'] });
      expect(install).toThrow(expect.objectContaining({ code: 'LEASEHOLD_NOT_REGISTERED', option: 'app' }));
    });

    test('after listen()', async () => {
      const app = await createApp(platform, {
        imports: [LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] })],
      });
      await app.listen(0, '127.0.0.1');
      const install = (): void => installRoleHolderProxy(app, { role: 'maintenance', prefixes: ['/maintenance'] });
      expect(install).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option: 'app' }));
    });
  });
});

describe('what does not come through the server of Fastify', () => {
  test('inject() is decided too', async () => {
    const { other } = await startPair('fastify', { parts });
    const fastify = other as NestFastifyApplication;
    expect((await fastify.inject('/maintenance/who')).json()).toEqual({ by: 'holder' });
    expect((await fastify.inject('/who')).json()).toEqual({ by: 'other' });
  });

  test('so are the further servers of a name with two addresses', async () => {
    const database = new MemoryDatabase();
    const holder = await startCopy('fastify', { database, label: 'holder', parts });
    const other = (await createCopy('fastify', { database, label: 'other', parts })) as NestFastifyApplication;
    await other.listen(0, 'localhost');
    await knowsHolder(other, holder);
    const addresses = other.getHttpAdapter().getInstance().addresses() as AddressInfo[];
    for (const { address, port, family } of addresses) {
      const host = family === 'IPv6' ? `[${address}]` : address;
      const answer = await fetch(`http://${host}:${port}/maintenance/who`);
      expect(await answer.json()).toEqual({ by: 'holder' });
    }
    expect(addresses.length).toBeGreaterThan(0);
  });
});
