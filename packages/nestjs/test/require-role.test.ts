import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { RequireRole, RoleNotHeldException } from '@leasehold/nestjs';
import { LeaseholdModule } from '@leasehold/nestjs';
import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Get, type INestApplication } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { describe, expect, test } from 'vitest';
import { createApp, leaseOf, type Platform, platforms } from './support/apps.ts';

@Controller('both')
@RequireRole('maintenance')
class BothController {
  @Get()
  @RequireRole('reports')
  both(): string {
    return 'ran';
  }

  @Get('one')
  one(): string {
    return 'ran';
  }
}

async function startApp(platform: Platform, database: MemoryDatabase): Promise<INestApplication> {
  const roles = ['maintenance', 'reports'];
  const forRoot = LeaseholdModule.forRoot({ store: memoryStore({ database }), leaseDuration: '2s', roles });
  const app = await createApp(platform, { imports: [forRoot], controllers: [BothController] });
  await app.listen(0, '127.0.0.1');
  return app;
}

const ask = async (app: INestApplication, path: string): Promise<Response> => fetch(`${await app.getUrl()}${path}`);

describe.each(platforms)('on %s', (platform) => {
  test('where the role is held the handler runs; elsewhere 503 with the problem of the proxy', async () => {
    const database = new MemoryDatabase();
    const holder = await startApp(platform, database);
    const other = await startApp(platform, database);
    expect([(await ask(holder, '/both/one')).status, await (await ask(holder, '/both/one')).text()]).toEqual([200, 'ran']);
    const refused = await ask(other, '/both/one');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('proxy-status')).toBe('leasehold; error=destination_unavailable; details="not-held"');
    expect(await refused.json()).toEqual({
      title: 'Service Unavailable',
      status: 503,
      detail:
        'This instance does not hold the role, and only its holder may run this. Nothing was executed; the request can be sent again.',
      reason: 'not-held',
      role: 'maintenance',
    });
  });

  test('a controller and its handler may each require one', async () => {
    const app = await startApp(platform, new MemoryDatabase());
    expect((await ask(app, '/both')).status).toBe(200);
    await leaseOf(app, 'reports').stepDown({ standAside: 'until-told' });
    expect(await (await ask(app, '/both')).json()).toMatchObject({ role: 'reports' });
    expect((await ask(app, '/both/one')).status).toBe(200);
    await leaseOf(app).stepDown({ standAside: 'until-told' });
    expect((await ask(app, '/both/one')).status).toBe(503);
  });

  test('a filter of the application sees the exception', async () => {
    const seen: unknown[] = [];
    @Catch(RoleNotHeldException)
    class Filter extends BaseExceptionFilter implements ExceptionFilter {
      override catch(exception: RoleNotHeldException, host: ArgumentsHost): void {
        seen.push(exception.role);
        // oxlint-disable-next-line promise/valid-params -- no promise, a filter
        super.catch(exception, host);
      }
    }
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance', 'reports'] });
    const app = await createApp(platform, { imports: [forRoot], controllers: [BothController] });
    app.useGlobalFilters(new Filter(app.getHttpAdapter()));
    await app.listen(0, '127.0.0.1');
    await leaseOf(app).stepDown({ standAside: 'until-told' });
    expect((await ask(app, '/both/one')).status).toBe(503);
    expect(seen).toEqual(['maintenance']);
  });
});
