import { createLeasehold, type LeaseholdErrorCode } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { type InstallRoleHolderProxyOptions, LEASEHOLD, LeaseholdModule, type LeaseholdModuleOptions } from '@leasehold/nestjs';
import type { DynamicModule, INestApplication, ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { adapterOf, createApp, knowsHolder, leaseOf, type Platform, platforms, RootModule } from './support/apps.ts';
import { readBody } from './support/body-parser.ts';
import { WhoController } from './support/controllers.ts';
import { openStream } from '../../../test/support/raw.ts';

const proxy: readonly InstallRoleHolderProxyOptions[] = [
  { role: 'maintenance', prefixes: ['/maintenance'], instanceHeader: 'X-Served-By' },
];
const controllers = [WhoController];

interface CopyOptions {
  readonly database: MemoryDatabase;
  readonly label: string;
  readonly imports?: (settings: LeaseholdModuleOptions) => ModuleMetadata['imports'];
  readonly prepare?: (app: INestApplication, label: string) => void;
  readonly forceCloseConnections?: boolean;
}

const byForRoot = (settings: LeaseholdModuleOptions): ModuleMetadata['imports'] => [
  LeaseholdModule.forRoot({ ...settings, roles: ['maintenance'] }),
];

async function startCopy(platform: Platform, options: CopyOptions): Promise<INestApplication> {
  const { database, label, imports = byForRoot } = options;
  const settings = { store: memoryStore({ database }), instance: { label }, leaseDuration: '2s', proxy } as const;
  const app = await createApp(platform, { imports: imports(settings) ?? [], controllers }, options.forceCloseConnections);
  options.prepare?.(app, label);
  await app.listen(0, '127.0.0.1');
  return app;
}

interface Pair {
  readonly holder: INestApplication;
  readonly other: INestApplication;
}

async function startPair(platform: Platform, options: Partial<CopyOptions> = {}): Promise<Pair> {
  const database = new MemoryDatabase();
  const holder = await startCopy(platform, { ...options, database, label: 'holder' });
  const other = await startCopy(platform, { ...options, database, label: 'other' });
  await knowsHolder(other, holder);
  return { holder, other };
}

async function whoAnswers(app: INestApplication, path = '/maintenance/who'): Promise<unknown> {
  return (await fetch(`${await app.getUrl()}${path}`)).json();
}

describe.each(platforms)('on %s', (platform) => {
  test('forRoot({ proxy }): under a prefix on the holder, elsewhere on the copy that was asked', async () => {
    const { holder, other } = await startPair(platform);
    for (const app of [holder, other]) expect(await whoAnswers(app)).toEqual({ by: 'holder' });
    expect(await whoAnswers(other, '/who')).toEqual({ by: 'other' });
  });

  test('forRootAsync: the factory answers with it', async () => {
    const imports = (settings: LeaseholdModuleOptions): ModuleMetadata['imports'] => [
      LeaseholdModule.forRootAsync({ useFactory: async () => settings, roles: ['maintenance'] }),
    ];
    const { other } = await startPair(platform, { imports });
    expect(await whoAnswers(other)).toEqual({ by: 'holder' });
  });

  test('a role that another module names', async () => {
    const imports = (settings: LeaseholdModuleOptions): ModuleMetadata['imports'] => [
      LeaseholdModule.forRoot(settings),
      LeaseholdModule.forFeature({ roles: ['maintenance'] }),
    ];
    const { other } = await startPair(platform, { imports });
    expect(await whoAnswers(other)).toEqual({ by: 'holder' });
  });

  test('body parsers that the application adds do not read what goes to the holder', async () => {
    const prepare = (app: INestApplication, label: string): void => {
      if (label === 'other') app.use(readBody);
    };
    const { other } = await startPair(platform, { prepare });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    const answer = await fetch(`${await other.getUrl()}/maintenance/echo`, init);
    expect([answer.status, await answer.json()]).toEqual([201, { by: 'holder', body: { a: 1 } }]);
  });

  test('the answer names the holder, on both copies, and nobody outside of the prefixes', async () => {
    const { holder, other } = await startPair(platform);
    const servedBy = async (app: INestApplication, path: string): Promise<string | null> =>
      (await fetch(`${await app.getUrl()}${path}`)).headers.get('x-served-by');
    expect(await servedBy(holder, '/maintenance/who')).toMatch(/^holder-/);
    expect(await servedBy(other, '/maintenance/who')).toMatch(/^holder-/);
    expect(await servedBy(other, '/who')).toBe(null);
  });

  test('an event stream comes through, and does not keep the copy that it runs through from closing', async () => {
    const { other } = await startPair(platform, { forceCloseConnections: false });
    const stream = await openStream(`${await other.getUrl()}/maintenance/events`);
    await expect.poll(() => stream.text()).toContain('data: holder');
    await other.close();
    expect(await stream.ended).toBe('broken');
  });

  test('in tests: it goes by the Leasehold that overrideProvider puts in place', async () => {
    const given = createLeasehold({ store: memoryStore(), instance: { label: 'given' } });
    given.role('maintenance');
    await given.start();
    onTestFinished(() => given.stop());
    await given.standAside();
    const imports = [
      LeaseholdModule.forRoot({ connectionString: 'postgres://nowhere.invalid/db', roles: ['maintenance'], proxy }),
    ];
    const builder = Test.createTestingModule({ imports, controllers }).overrideProvider(LEASEHOLD).useValue(given);
    const app = (await builder.compile()).createNestApplication(adapterOf(platform), { logger: false });
    onTestFinished(() => app.close());
    await app.listen(0, '127.0.0.1');
    expect(await whoAnswers(app)).toMatchObject({ status: 503, role: 'maintenance' });
    given.compete();
    await expect.poll(() => given.get('maintenance').isHeld).toBe(true);
    expect(await whoAnswers(app)).toEqual({ by: 'given' });
  });

  test('of a role that nobody names: every request runs here, and one line says so', async () => {
    const warn = vi.fn<(fields: object, message: string) => void>();
    const logger = { debug() {}, info() {}, warn, error() {} };
    const unnamed = [{ role: 'reports', prefixes: ['/maintenance'] }];
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), instance: { label: 'alone' }, logger, proxy: unnamed });
    const app = await createApp(platform, { imports: [forRoot], controllers });
    await app.listen(0, '127.0.0.1');
    expect(await whoAnswers(app)).toEqual({ by: 'alone' });
    expect(warn.mock.calls.map(([, message]) => message)).toEqual([expect.stringContaining("'reports' is not registered")]);
  });

  describe('refused', () => {
    const create = (given: unknown): Promise<INestApplication> =>
      createApp(platform, {
        imports: [LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'], proxy: given as never })],
      });

    test.each([{ role: 'maintenance', prefixes: ['/maintenance'] }, 'maintenance', null])(
      'what is no list, when the application is created: %j',
      async (given) => {
        await expect(create(given)).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION', option: 'proxy' });
      },
    );

    test.each<[LeaseholdErrorCode, object]>([
      ['LEASEHOLD_INVALID_PREFIX', { prefixes: ['maintenance'] }],
      ['LEASEHOLD_INVALID_OPTION', { role: '' }],
      ['LEASEHOLD_INVALID_DURATION', { headTimeout: 'soon' }],
    ])('when it is initialised, %s: %j', async (code, wrong) => {
      const app = await create([{ role: 'maintenance', prefixes: ['/maintenance'], ...wrong }]);
      await expect(app.init()).rejects.toMatchObject({ code });
    });
  });
});

test('inject() of Fastify is decided too', async () => {
  const { other } = await startPair('fastify');
  expect((await (other as NestFastifyApplication).inject('/maintenance/who')).json()).toEqual({ by: 'holder' });
});

describe('without HTTP there is nothing to forward, and the roles are there', () => {
  const forRoot = (): DynamicModule => LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'], proxy });

  test('in an application context', async () => {
    const app = await NestFactory.createApplicationContext({ module: RootModule, imports: [forRoot()] }, { logger: false });
    onTestFinished(() => app.close());
    expect(leaseOf(app as INestApplication).isHeld).toBe(true);
  });

  test('in a testing module', async () => {
    const compiled = await Test.createTestingModule({ imports: [forRoot()] }).compile();
    onTestFinished(() => compiled.close());
    await compiled.init();
    expect(leaseOf(compiled as unknown as INestApplication).isHeld).toBe(true);
  });
});
