import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import compression from 'compression';
import { createLeasehold, isLeaseholdError, type LeaseholdErrorCode } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { leaseholdLifecycle, roleHolderProxy, type RoleHolderProxyOptions } from '@leasehold/express';
import type { NextFunction, Request, Response as ExpressResponse } from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Copy, type Parts, reasonOf, startCopy, startPair, whoRoutes } from './support/copies.ts';
import { type Host, hosts } from './support/hosts.ts';
import { listenOn } from './support/listen.ts';
import { openStream, type OpenStream } from '../../../test/support/raw.ts';

/** Says how many bytes arrived, and which. */
function importRoute({ app, label }: Parts): void {
  app.post('/maintenance/import', (request, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on('end', () => response.json({ by: label, bytes, sha256: hash.digest('hex') }));
  });
}

/** Events that say who sent them, until the client leaves. */
function eventRoute({ app, label }: Parts): void {
  app.get('/maintenance/events', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(`data: ${label}\n\n`), 20);
    request.on('close', () => clearInterval(timer));
  });
}

/** A stream that has begun and has no event yet. */
function quietRoute({ app }: Parts): void {
  app.get('/maintenance/quiet', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
}

async function streamThrough(copy: Copy, path = '/maintenance/events'): Promise<OpenStream> {
  const stream = await openStream(`${copy.origin}${path}`);
  await expect.poll(() => stream.text()).toContain('data: holder\n\ndata: holder\n\n');
  return stream;
}

describe.each(hosts)('$name', (host: Host) => {
  describe('where a request runs', () => {
    test('on the holder, too, after another server of the same application has closed', async () => {
      const { other } = await startPair(host, { routes: whoRoutes });
      const second = createServer(other.app);
      const lifecycle = leaseholdLifecycle(other.leasehold, second);
      const origin = await listenOn(second);
      expect(await (await fetch(`${origin}/maintenance/who`)).json()).toEqual({ by: 'holder' });
      await lifecycle.close();
      expect(await (await fetch(`${other.origin}/maintenance/who`)).json()).toEqual({ by: 'holder' });
    });

    test('under a prefix: on the holder, whichever copy was asked', async () => {
      const { holder, other } = await startPair(host, { routes: whoRoutes });
      for (const { origin } of [holder, other]) {
        const answer = await fetch(`${origin}/maintenance/who`);
        expect([answer.status, await answer.json()]).toEqual([200, { by: 'holder' }]);
      }
    });

    test('elsewhere: on the copy that was asked', async () => {
      const { other } = await startPair(host, { routes: whoRoutes });
      expect(await (await fetch(`${other.origin}/who`)).json()).toEqual({ by: 'other' });
    });

    test('an unknown route under a prefix is unknown to the holder, and not to this copy', async () => {
      const notFound = ({ app, label }: Parts): void => {
        app.use((_request, response) => void response.status(404).json({ unknownTo: label }));
      };
      const { other } = await startPair(host, { routes: notFound });
      const answer = await fetch(`${other.origin}/maintenance/nothing-here`, { method: 'POST', body: 'x' });
      expect([answer.status, await answer.json()]).toEqual([404, { unknownTo: 'holder' }]);
    });

    test('middleware, authentication and handlers after the proxy do not run here', async () => {
      const ran: string[] = [];
      const { other } = await startPair(host, {
        routes: ({ app, label }) => {
          app.use((_request, _response, next) => {
            ran.push(`${label} middleware`);
            next();
          });
          app.get('/maintenance/run', (_request, response) => {
            ran.push(`${label} handler`);
            response.end();
          });
        },
      });
      await fetch(`${other.origin}/maintenance/run`);
      expect(ran).toEqual(['holder middleware', 'holder handler']);
    });

    test('another spelling that Express takes for the same route does not lead past the holder', async () => {
      const { other } = await startPair(host, { routes: whoRoutes });
      for (const path of ['/MAINTENANCE/who', '/maintenance/who/', '/%6daintenance/who', '/./maintenance/who']) {
        const answer = await fetch(`${other.origin}${path}`);
        expect(await answer.text(), path).not.toContain('other');
      }
    });

    test('the request target arrives as the client sent it', async () => {
      const { other } = await startPair(host, {
        routes: ({ app, label }) =>
          app.get('/maintenance/target', (request, response) => void response.json([label, request.originalUrl])),
      });
      const answer = await fetch(`${other.origin}/maintenance/target?a=%2F&&b[]=1`);
      expect(await answer.json()).toEqual(['holder', '/maintenance/target?a=%2F&&b[]=1']);
    });
  });

  describe('mounted under a path', () => {
    const underApi = { prefixes: ['/api/maintenance'] };
    const apiRoutes = ({ app, label }: Parts, { express }: Host): void => {
      const router = express.Router();
      router.get('/maintenance/who', (request, response) => void response.json({ by: label, url: request.originalUrl }));
      app.use('/api', router);
    };

    test("the prefix is compared with the whole path, not with the router's rest of it", async () => {
      const { holder, other } = await startPair(host, {
        proxy: underApi,
        mount: ({ app }, proxy) => app.use('/api', proxy),
        routes: apiRoutes,
      });
      for (const { origin } of [holder, other]) {
        const answer = await fetch(`${origin}/api/maintenance/who?x=1`);
        expect(await answer.json()).toEqual({ by: 'holder', url: '/api/maintenance/who?x=1' });
      }
    });

    test('a prefix without the path of the mount matches nothing', async () => {
      const { other } = await startPair(host, { mount: ({ app }, proxy) => app.use('/api', proxy), routes: apiRoutes });
      expect(await (await fetch(`${other.origin}/api/maintenance/who`)).json()).toMatchObject({ by: 'other' });
    });

    test('in a router in a router', async () => {
      const { other } = await startPair(host, {
        proxy: { prefixes: ['/v1/api/maintenance'] },
        mount: ({ app, label }, proxy, { express }) => {
          const inner = express.Router().use(proxy);
          inner.get('/maintenance/who', (_request, response) => void response.json({ by: label }));
          app.use('/v1', express.Router().use('/api', inner));
        },
      });
      expect(await (await fetch(`${other.origin}/v1/api/maintenance/who`)).json()).toEqual({ by: 'holder' });
    });

    test('as middleware of one route', async () => {
      const { other } = await startPair(host, {
        mount: ({ app, label }, proxy) =>
          app.get('/maintenance/who', proxy, (_request, response) => void response.json({ by: label })),
      });
      expect(await (await fetch(`${other.origin}/maintenance/who`)).json()).toEqual({ by: 'holder' });
    });
  });

  describe('bodies', () => {
    test.each([['POST'], ['PUT'], ['PATCH'], ['DELETE']])(
      'of a %s arrive byte for byte, parsers after the proxy or not',
      async (method) => {
        const { other } = await startPair(host, {
          routes: ({ app, label }, { express }) => {
            app.use(express.raw({ type: '*/*', limit: '1mb' }));
            app.all('/maintenance/raw', (request, response) => {
              const body = request.body as Buffer;
              response.json({ by: label, bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') });
            });
          },
        });
        const body = randomBytes(300_000);
        const headers = { 'content-type': 'application/octet-stream' };
        const answer = await fetch(`${other.origin}/maintenance/raw`, { method, headers, body });
        expect(await answer.json()).toEqual({
          by: 'holder',
          bytes: 300_000,
          sha256: createHash('sha256').update(body).digest('hex'),
        });
      },
    );

    test('JSON keeps its spelling', async () => {
      const { other } = await startPair(host, {
        routes: ({ app }, { express }) => {
          app.use(express.text({ type: 'application/json' }));
          app.post('/maintenance/echo', (request, response) => void response.send(request.body as string));
        },
      });
      const body = '{ "n": 12345678901234567890, "s": "\\u00e9" }\n';
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${other.origin}/maintenance/echo`, { method: 'POST', headers, body });
      expect(await answer.text()).toBe(body);
    });

    test('a parser before the proxy: 500 at once that says what to do, and the holder never sees it', async () => {
      const errors: string[] = [];
      const seen: string[] = [];
      const { other } = await startPair(host, {
        before: ({ app }, { express }) => app.use(express.json()),
        proxy: { logger: { debug() {}, info() {}, warn() {}, error: (_fields, message) => errors.push(message) } },
        routes: ({ app, label }) => {
          app.post('/maintenance/import', (_request, response) => {
            seen.push(label);
            response.end();
          });
        },
      });
      const headers = { 'content-type': 'application/json' };
      for (let time = 0; time < 2; time++) {
        const answer = await fetch(`${other.origin}/maintenance/import`, { method: 'POST', headers, body: '{"a":1}' });
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, null]);
        expect(await answer.json()).toMatchObject({ reason: 'body-already-read', detail: expect.stringContaining('before') });
      }
      expect(seen).toEqual([]);
      expect(errors).toEqual([expect.stringContaining('mount the role-holder proxy before every body parser')]);
    });

    test('a parser before the proxy leaves alone what it does not read', async () => {
      const { other } = await startPair(host, {
        before: ({ app }, { express }) => app.use(express.json()),
        routes: (parts) => {
          importRoute(parts);
          whoRoutes(parts);
        },
      });
      expect(await (await fetch(`${other.origin}/maintenance/who`)).json()).toEqual({ by: 'holder' });
      const answer = await fetch(`${other.origin}/maintenance/import`, { method: 'POST', body: 'text' });
      expect(await answer.json()).toMatchObject({ by: 'holder', bytes: 4 });
    });
  });

  describe('the answer', () => {
    const cors = ({ app }: Parts): void => {
      app.use((_request: Request, response: ExpressResponse, next: NextFunction) => {
        response.set('Access-Control-Allow-Origin', 'https://shop.test').append('Vary', 'Origin');
        next();
      });
    };

    test('carries what earlier middleware has set, and Vary adds up', async () => {
      const { other } = await startPair(host, {
        before: cors,
        routes: ({ app }) => app.get('/maintenance/x', (_request, response) => void response.vary('Accept').send('ok')),
      });
      const answer = await fetch(`${other.origin}/maintenance/x`);
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.test');
      expect(answer.headers.get('vary')).toMatch(/Origin/);
      expect(answer.headers.get('vary')).toMatch(/Accept/);
    });

    test('a refusal carries it too, so that a browser may read it', async () => {
      const { other, holder } = await startPair(host, { before: cors });
      await new Promise((resolve) => holder.server.close(resolve).closeAllConnections());
      const answer = await fetch(`${other.origin}/maintenance/x`);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([503, 'https://shop.test']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await reasonOf(answer)).toBe('unreachable');
    });

    test("an error of the holder's handler comes as the holder answers it", async () => {
      const handled: string[] = [];
      const { other } = await startPair(host, {
        routes: ({ app, label }) => {
          app.get('/maintenance/broken', () => {
            throw new Error('broken');
          });
          app.use((error: Error, _request: Request, response: ExpressResponse, _next: NextFunction) => {
            handled.push(label);
            response.status(418).send(`${label}: ${error.message}`);
          });
        },
      });
      const answer = await fetch(`${other.origin}/maintenance/broken`);
      expect([answer.status, await answer.text(), handled]).toEqual([418, 'holder: broken', ['holder']]);
    });

    test('a refusal is an answer and not an error: no error handler sees it', async () => {
      let handled = 0;
      const copy = await startCopy(host, {
        routes: ({ app }) => {
          app.use((_error: Error, _request: Request, response: ExpressResponse, _next: NextFunction) => {
            handled++;
            response.end();
          });
        },
      });
      await copy.lease.stepDown({ standAside: 'until-told' });
      const answer = await fetch(`${copy.origin}/maintenance/x`);
      expect([answer.status, handled]).toEqual([503, 0]);
    });
  });

  describe('while nobody holds', () => {
    test('503 with a Retry-After in whole seconds, from every copy; and the next holder answers', async () => {
      const { holder, other } = await startPair(host, { routes: whoRoutes });
      const asked: { status: number; retryAfter: string | null; reason: unknown }[] = [];
      await other.lease.stepDown({ standAside: 'until-told' });
      await holder.lease.stepDown({ standAside: 'until-told' });
      await expect.poll(() => other.lease.currentHolder).toBe(null);
      for (const { origin } of [holder, other]) {
        const answer = await fetch(`${origin}/maintenance/who`);
        asked.push({ status: answer.status, retryAfter: answer.headers.get('retry-after'), reason: await reasonOf(answer) });
      }
      expect(asked.map(({ status }) => status)).toEqual([503, 503]);
      for (const { retryAfter } of asked) expect(retryAfter).toMatch(/^[1-9]\d*$/);
      expect(asked[1]?.reason).toBe('no-holder');

      other.leasehold.compete();
      await expect.poll(() => other.lease.isHeld).toBe(true);
      expect(await (await fetch(`${other.origin}/maintenance/who`)).json()).toEqual({ by: 'other' });
    });
  });

  describe('one hop', () => {
    test('a request that was forwarded to a copy that does not hold is refused', async () => {
      const { other } = await startPair(host, { routes: whoRoutes });
      const answer = await fetch(`${other.origin}/maintenance/who`, { headers: { 'leasehold-hop': 'maintenance;x;1' } });
      expect([answer.status, await reasonOf(answer)]).toEqual([503, 'failover']);
    });
  });

  describe('event streams', () => {
    test('come through another copy as they are sent', async () => {
      const { other } = await startPair(host, { routes: eventRoute });
      const stream = await streamThrough(other);
      expect([stream.status, stream.text().includes('other')]).toEqual([200, false]);
    });

    test('the head comes before the first event', async () => {
      const { other } = await startPair(host, { routes: quietRoute });
      expect((await openStream(`${other.origin}/maintenance/quiet`)).status).toBe(200);
    });

    test('compression() before the proxy holds neither the head nor events back', async () => {
      const { other } = await startPair(host, {
        // The holder's own answers are its own affair: there, the route has to flush.
        before: ({ app, label }) => label === 'other' && app.use(compression()),
        routes: (parts) => {
          eventRoute(parts);
          quietRoute(parts);
        },
      });
      const answer = await fetch(`${other.origin}/maintenance/events`, { headers: { 'accept-encoding': 'gzip' } });
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('data: holder\n\ndata: holder\n\n')) text += (await reader?.read())?.value ?? '';
      await reader?.cancel();
      expect((await fetch(`${other.origin}/maintenance/quiet`, { headers: { 'accept-encoding': 'gzip' } })).status).toBe(200);
    });

    test('are broken off when the holder dies, not ended as if complete', async () => {
      const { holder, other } = await startPair(host, { routes: eventRoute });
      const stream = await streamThrough(other);
      holder.server.closeAllConnections();
      expect(await stream.ended).toBe('broken');
    });
  });

  describe('a client that leaves', () => {
    test('ends the request to the holder, before and after its answer began', async () => {
      const open = new Set<string>();
      const { other } = await startPair(host, {
        routes: ({ app }) => {
          app.get('/maintenance/:kind', (request, response) => {
            const { kind } = request.params;
            open.add(kind);
            response.on('close', () => open.delete(kind));
            if (kind === 'begun') response.write('a');
          });
        },
      });
      const leave = new AbortController();
      const answers = ['begun', 'silent'].map((kind) =>
        fetch(`${other.origin}/maintenance/${kind}`, { signal: leave.signal }).catch(() => {}),
      );
      await expect.poll(() => [...open].toSorted()).toEqual(['begun', 'silent']);
      leave.abort();
      await Promise.all(answers);
      await expect.poll(() => open.size).toBe(0);
    });
  });

  test('two proxies for two roles', async () => {
    const { holder, other } = await startPair(host, {
      before: ({ app, leasehold, label }) => {
        leasehold.role('reports');
        app.use(roleHolderProxy(leasehold, { role: 'reports', prefixes: ['/reports'] }));
        app.get('/reports', (_request, response) => void response.send(label));
      },
      routes: whoRoutes,
    });
    await holder.leasehold.get('reports').stepDown({ standAside: 'until-told' });
    await expect.poll(() => holder.leasehold.get('reports').currentHolderAddress).toBe(other.origin);
    for (const { origin } of [holder, other]) {
      expect(await (await fetch(`${origin}/reports`)).text()).toBe('other');
      expect(await (await fetch(`${origin}/maintenance/who`)).json()).toEqual({ by: 'holder' });
    }
  });

  test('a role that is not registered: everything runs here, and one line says so', async () => {
    const lines: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (_fields: object, message: string) => void lines.push(message) };
    const app = host.express();
    app.use(roleHolderProxy(createLeasehold({ store: memoryStore() }), { role: 'reports', prefixes: ['/'], logger }));
    app.get('/reports', (_request, response) => void response.send('here'));
    const server = createServer(app);
    onTestFinished(() => void server.close());
    const origin = await listenOn(server);
    expect(await (await fetch(`${origin}/reports`, { headers: { connection: 'close' } })).text()).toBe('here');
    expect(lines).toEqual([expect.stringContaining('not registered')]);
  });
});

describe('options that cannot be', () => {
  test.each<[LeaseholdErrorCode, object]>([
    ['LEASEHOLD_INVALID_PREFIX', { role: 'maintenance', prefixes: ['maintenance'] }],
    ['LEASEHOLD_INVALID_PREFIX', { role: 'maintenance', prefixes: [] }],
    ['LEASEHOLD_INVALID_OPTION', { role: '', prefixes: ['/maintenance'] }],
    ['LEASEHOLD_INVALID_DURATION', { role: 'maintenance', prefixes: ['/maintenance'], headTimeout: 'soon' }],
  ])('%s: %o', (code, options) => {
    const leasehold = createLeasehold({ store: memoryStore() });
    leasehold.role('maintenance');
    let thrown: unknown;
    try {
      roleHolderProxy(leasehold, options as RoleHolderProxyOptions);
    } catch (error) {
      thrown = error;
    }
    expect(isLeaseholdError(thrown, code)).toBe(true);
  });
});
