import type { Leasehold, LeaseStore } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { LeaseholdHealthIndicator, LeaseholdModule } from '@leasehold/nestjs';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  type LoggerService,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createApp,
  createCopy,
  leaseholdOf,
  leaseOf,
  type OwnSettings,
  type Platform,
  platforms,
  startCopy,
} from './support/apps.ts';
import { openStream } from '../../../test/support/raw.ts';

function createWith(platform: Platform, options: OwnSettings, providers: unknown[] = []): Promise<INestApplication> {
  const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'], ...options });
  return createApp(platform, { imports: [forRoot], providers: providers as never });
}

const failingStore = (): LeaseStore => ({ ...memoryStore(), open: () => Promise.reject(new Error('down')) });

describe.each(platforms)('on %s', (platform) => {
  describe('start', () => {
    test('other modules find the roles held when they begin', async () => {
      const seen: boolean[] = [];
      @Injectable()
      class Observer implements OnApplicationBootstrap {
        onApplicationBootstrap(): void {
          seen.push(leaseOf(app).isHeld);
        }
      }
      const app = await createWith(platform, {}, [Observer]);
      await app.init();
      expect(seen).toEqual([true]);
    });

    test('a store that is down: init() rejects as `startup` says, and close() works', async () => {
      const app = await createWith(platform, { store: failingStore(), startup: 'fail' });
      await expect(app.init()).rejects.toThrow('down');
      await app.close();
      expect(leaseOf(app).isHeld).toBe(false);
    });

    test("with startup 'background' it serves without the store", async () => {
      const app = await createWith(platform, { store: failingStore(), startup: 'background' });
      await app.listen(0, '127.0.0.1');
      expect((await fetch(await app.getUrl())).status).toBe(404);
      expect(leaseOf(app).isHeld).toBe(false);
    });
  });

  describe('the address', () => {
    const addressOf = (app: INestApplication): string | null => leaseholdOf(app).instance.address;

    test('is the one that the server listens on, by default', async () => {
      const app = await createWith(platform, {});
      await app.init();
      expect(addressOf(app)).toBe(null);
      await app.listen(0, '127.0.0.1');
      expect(addressOf(app)).toBe(await app.getUrl());
    });

    test.each<[string, OwnSettings, string]>([
      ['a URL', { advertise: 'https://app-03.internal:8443' }, 'https://app-03.internal:8443'],
      ['what a function answers', { advertise: () => 'http://app-04.internal' }, 'http://app-04.internal'],
      ['instance.address', { instance: { address: 'http://app-05.internal' } }, 'http://app-05.internal'],
    ])('or %s', async (_what, options, address) => {
      const app = await createWith(platform, options);
      await app.listen(0, '127.0.0.1');
      expect(addressOf(app)).toBe(address);
    });

    test('that cannot be had costs the forwarding and not the server', async () => {
      const error = vi.fn<(fields: object, message: string) => void>();
      const logger = { debug() {}, info() {}, warn() {}, error };
      const advertise = (): never => {
        throw new Error('unknown');
      };
      const app = await createWith(platform, { advertise, logger });
      await app.listen(0, '127.0.0.1');
      expect(addressOf(app)).toBe(null);
      expect(error.mock.calls.map(([, message]) => message)).toEqual([expect.stringContaining('no address is advertised')]);
    });
  });

  describe('close', () => {
    test('before init()', async () => {
      const app = await createWith(platform, {});
      await app.close();
      expect(leaseOf(app).isHeld).toBe(false);
    });

    test('twice', async () => {
      const app = await createWith(platform, {});
      await app.init();
      await Promise.all([app.close(), app.close()]);
      expect(leaseOf(app).state).toBe('stopped');
    });

    test('the role goes over when the work under it has ended, and before anything is shut down', async () => {
      const events: string[] = [];
      @Injectable()
      class Pool implements OnApplicationShutdown {
        onApplicationShutdown(): void {
          events.push('pool closed');
        }
      }
      const database = new MemoryDatabase();
      const holder = await startCopy(platform, { database, label: 'holder', parts: { providers: [Pool] } });
      const other = await startCopy(platform, { database, label: 'other' });
      const { promise, resolve } = Promise.withResolvers<void>();
      const running = leaseOf(holder).whileHeld(async (term) => {
        await promise;
        events.push(term.signal.aborted ? 'work ended, told to' : 'work ended');
      });
      const closing = holder.close();
      await expect.poll(() => leaseOf(holder).isHeld).toBe(false);
      expect(leaseOf(other).isHeld).toBe(false);
      resolve();
      await Promise.all([running, closing]);
      expect(events).toEqual(['work ended, told to', 'pool closed']);
      await expect.poll(() => leaseOf(other).isHeld, { timeout: 1_000 }).toBe(true);
    });

    test('the role goes over at once when nothing runs under it, though the application is not closed yet', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      @Injectable()
      class Slow implements BeforeApplicationShutdown {
        async beforeApplicationShutdown(): Promise<void> {
          await promise;
        }
      }
      const database = new MemoryDatabase();
      const holder = await startCopy(platform, { database, label: 'holder', parts: { providers: [Slow] } });
      const other = await startCopy(platform, { database, label: 'other' });
      const closing = holder.close();
      await expect.poll(() => leaseOf(other).isHeld, { timeout: 1_000 }).toBe(true);
      resolve();
      await closing;
    });

    test('a request in flight ends well', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      @Controller()
      class SlowController {
        @Get('slow')
        async slow(): Promise<string> {
          begin();
          await promise;
          return 'whole';
        }
      }
      const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] });
      const app = await createApp(platform, { imports: [forRoot], controllers: [SlowController] }, false);
      await app.listen(0, '127.0.0.1');
      const answer = openStream(`${await app.getUrl()}/slow`);
      await begun;
      const closing = app.close();
      await expect.poll(() => leaseOf(app).state).toBe('stopped');
      resolve();
      const { ended, text } = await answer;
      expect([await ended, text()]).toEqual(['complete', 'whole']);
      await closing;
    });

    test('what the application destroys in onModuleDestroy goes before: the role is held in it still', async () => {
      const seen: boolean[] = [];
      @Injectable()
      class Early implements OnModuleDestroy {
        onModuleDestroy(): void {
          seen.push(leaseOf(app).isHeld);
        }
      }
      const app = await createWith(platform, {}, [Early]);
      await app.init();
      await app.close();
      expect(seen).toEqual([true]);
    });
  });

  test('the health indicator: up while it holds or stands by, down while it stops and when renewals fail', async () => {
    let fail = false;
    const store = memoryStore();
    const flaky: LeaseStore = {
      ...store,
      heartbeat: (request, call) => (fail ? Promise.reject(new Error('down')) : store.heartbeat(request, call)),
    };
    const forRoot = LeaseholdModule.forRoot({ store: flaky, leaseDuration: '2s', roles: ['maintenance'] });
    const app = await createApp(platform, { imports: [forRoot, TerminusModule.forRoot({ logger: false })] });
    await app.init();
    const health = app.get(HealthCheckService, { strict: false });
    const indicator = app.get(LeaseholdHealthIndicator, { strict: false });
    const check = () => health.check([() => indicator.isHealthy()]);
    expect((await check()).info).toEqual({ leasehold: { status: 'up', roles: { maintenance: 'held' } } });
    fail = true;
    await expect.poll(() => leaseOf(app).state, { timeout: 3_000 }).toBe('jeopardy');
    await expect(check()).rejects.toMatchObject({ response: { error: { leasehold: { status: 'down' } } } });
    await app.close();
    expect(await indicator.isHealthy('roles')).toEqual({ roles: { status: 'down', roles: { maintenance: 'stopped' } } });
  });
});

describe('the log', () => {
  test("is Nest's, one line for each change", async () => {
    const lines: string[] = [];
    const note = (message: string): void => void lines.push(message);
    const logger: LoggerService = { log: note, warn: note, error: note, debug: note };
    const app = await createWith('express', {});
    app.useLogger(logger);
    onTestFinished(() => app.useLogger(false));
    await app.init();
    const { fencingToken } = leaseOf(app);
    await app.close();
    const ours = lines.filter((line) => line.includes('role=maintenance'));
    expect(ours.length).toBeGreaterThan(1);
    expect(ours.every((line) => !line.includes('\n'))).toBe(true);
    expect(ours.join('\n')).toContain(String(fencingToken));
  });

  /** What the process says about SIGTERM, by the time that a listening application is idle. */
  async function warnings(prepare: (app: INestApplication) => void): Promise<string[]> {
    const warn = vi.fn<(fields: object, message: string) => void>();
    const app = await createWith('express', { logger: { debug() {}, info() {}, error() {}, warn } });
    prepare(app);
    await app.listen(0, '127.0.0.1');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    return warn.mock.calls.map(([, message]) => message);
  }

  /** Other listeners of this process, such as the test runner's, are no listeners of an application. */
  function withoutListeners(): void {
    const listeners = process.rawListeners('SIGTERM') as NodeJS.SignalsListener[];
    process.removeAllListeners('SIGTERM');
    onTestFinished(() => {
      process.removeAllListeners('SIGTERM');
      for (const listener of listeners) process.on('SIGTERM', listener);
    });
  }

  test('says when nothing would give the roles back at SIGTERM', async () => {
    vi.stubEnv('NODE_ENV', 'development');
    onTestFinished(() => void vi.unstubAllEnvs());
    withoutListeners();
    expect(await warnings(() => {})).toEqual([expect.stringContaining('app.enableShutdownHooks()')]);
    expect(await warnings((app) => void app.enableShutdownHooks())).toEqual([]);
    vi.stubEnv('NODE_ENV', 'test');
    process.removeAllListeners('SIGTERM');
    expect(await warnings(() => {})).toEqual([]);
  });
});

test('SIGTERM gives the roles back, with enableShutdownHooks', async () => {
  const app = await createCopy('fastify', {
    after: (created) => void created.enableShutdownHooks(['SIGTERM'], { useProcessExit: true }),
  });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  onTestFinished(() => exit.mockRestore());
  await app.listen(0, '127.0.0.1');
  const leasehold: Leasehold = leaseholdOf(app);
  process.emit('SIGTERM');
  await expect.poll(() => exit.mock.calls.length).toBe(1);
  expect(leasehold.get('maintenance').state).toBe('stopped');
});
