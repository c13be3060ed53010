import type { IncomingMessage } from 'node:http';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { AffinityKeyException, LeaseholdModule, RequirePartition, RoleNotHeldException } from '@leasehold/nestjs';
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  type INestApplication,
} from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { describe, expect, test } from 'vitest';
import { createApp, leaseholdOf, type Platform, platforms } from './support/apps.ts';

interface Routed {
  readonly params: { readonly id: string };
}

const keyOf = ({ headers }: IncomingMessage): string | string[] | undefined => headers['x-device-id'];

@Controller()
class DeviceController {
  @Get('state')
  @RequirePartition('devices', keyOf)
  state(): string {
    return 'ran';
  }

  @Get('devices/:id')
  @RequirePartition('devices', ({ params }: Routed) => params.id)
  device(): string {
    return 'ran';
  }

  @Get('orders/:id')
  @RequirePartition('devices', ({ params }: Routed) => params.id, { scope: 'Order' })
  order(): string {
    return 'ran';
  }

  @Get('asynchronous')
  @RequirePartition('devices', (async () => 'key') as never)
  asynchronous(): string {
    return 'ran';
  }
}

interface Lines {
  readonly errors: string[];
}

async function startApp(
  platform: Platform,
  database = new MemoryDatabase(),
  lines: Lines = { errors: [] },
): Promise<INestApplication> {
  const ignore = (): void => {};
  const logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_: object, message: string) => void lines.errors.push(message),
  };
  const store = memoryStore({ database });
  const forRoot = LeaseholdModule.forRoot({ store, leaseDuration: '2s', partitions: { devices: { count: 4 } }, logger });
  const app = await createApp(platform, { imports: [forRoot], controllers: [DeviceController] });
  await app.listen(0, '127.0.0.1');
  return app;
}

const ask = async (app: INestApplication, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${await app.getUrl()}${path}`, { headers });

describe.each(platforms)('on %s', (platform) => {
  test('where the role of the key is held the handler runs; elsewhere 503 with the problem of the proxy', async () => {
    const database = new MemoryDatabase();
    const holder = await startApp(platform, database);
    const partition = leaseholdOf(holder).getPartition('devices');
    await expect.poll(() => partition.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    const other = await startApp(platform, database);
    expect(await (await ask(holder, '/devices/device-42')).text()).toBe('ran');
    const refused = await ask(other, '/devices/device-42');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('proxy-status')).toBe('leasehold; error=destination_unavailable; details="not-held"');
    expect(await refused.json()).toMatchObject({ reason: 'not-held', role: partition.resolve('device-42').role });
  });

  test('one role is given away: its keys are refused, in their scope, and no others', async () => {
    const app = await startApp(platform);
    const partition = leaseholdOf(app).getPartition('devices');
    await expect.poll(() => partition.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    const ids = ['1', '2', '3', '4', '5', '6', '7', '8'];
    await partition.resolve('Order', '1').stepDown({ standAside: 'until-told' });
    for (const id of ids) {
      const answers = [(await ask(app, `/devices/${id}`)).status, (await ask(app, `/orders/${id}`)).status];
      expect(answers).toEqual([partition.isHeld(id) ? 200 : 503, partition.isHeld('Order', id) ? 200 : 503]);
    }
  });

  test('without a key 400, where it is no key 500, as by the proxy', async () => {
    const lines = { errors: [] };
    const app = await startApp(platform, new MemoryDatabase(), lines);
    const missing = await ask(app, '/state');
    expect([missing.status, missing.headers.get('retry-after')]).toEqual([400, null]);
    expect(missing.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await missing.json()).toEqual({
      title: 'Bad Request',
      status: 400,
      detail: 'The request has no affinity key, which says to what instance it belongs. Nothing was executed.',
      reason: 'affinity-key-missing',
      role: 'devices',
    });
    expect((await ask(app, '/state', { 'x-device-id': 'k'.repeat(4_097) })).status).toBe(400);
    expect(lines.errors).toEqual([]);
    for (let i = 0; i < 2; i++) {
      const failed = await ask(app, '/asynchronous');
      expect([failed.status, await failed.json()]).toEqual([500, expect.objectContaining({ reason: 'affinity-failed' })]);
    }
    expect(lines.errors).toEqual(['the affinity key of a request could not be told']);
  });

  test('a filter of the application sees the exceptions', async () => {
    const seen: unknown[] = [];
    @Catch(HttpException)
    class Filter extends BaseExceptionFilter implements ExceptionFilter {
      override catch(exception: HttpException, host: ArgumentsHost): void {
        if (exception instanceof RoleNotHeldException) seen.push(exception.role);
        if (exception instanceof AffinityKeyException) seen.push(exception.partition, exception.getStatus());
        // oxlint-disable-next-line promise/valid-params -- no promise, a filter
        super.catch(exception, host);
      }
    }
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), partitions: { devices: { count: 4 } } });
    const app = await createApp(platform, { imports: [forRoot], controllers: [DeviceController] });
    app.useGlobalFilters(new Filter(app.getHttpAdapter()));
    await app.listen(0, '127.0.0.1');
    await leaseholdOf(app).standAside();
    const { role } = leaseholdOf(app).getPartition('devices').resolve('device-42');
    await ask(app, '/state', { 'x-device-id': 'device-42' });
    await ask(app, '/state');
    expect(seen).toEqual([role, 'devices', 400]);
  });
});

test('what is no key function, and a misspelt option, are refused when the class is defined', () => {
  const refused = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });
  expect(() => RequirePartition('devices', 'x-device-id' as never)).toThrow(refused('affinityKey'));
  expect(() => RequirePartition('devices', keyOf, { scop: 'Order' } as never)).toThrow(refused('scop'));
});
