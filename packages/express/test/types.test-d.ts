import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createLeasehold, type Leasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import {
  type ConnectHandler,
  type LeaseholdLifecycle,
  leaseholdLifecycle,
  type LeaseholdLifecycleOptions,
  requirePartition,
  requireRole,
  type RoleHolderHandler,
  roleHolderProxy,
} from '@leasehold/express';
import express from 'express';
import express4 from 'express4';
import { describe, expectTypeOf, test } from 'vitest';

const leasehold: Leasehold = createLeasehold({ store: memoryStore() });
const proxy = roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance'] });
const guard = requireRole(leasehold, 'maintenance');

describe('handlers', () => {
  test('are middleware of both versions, wherever one takes middleware', () => {
    expectTypeOf(proxy).toEqualTypeOf<RoleHolderHandler>();
    expectTypeOf(guard).toEqualTypeOf<ConnectHandler>();
    for (const app of [express(), express.Router()]) {
      app.use(proxy);
      app.use('/api', proxy, guard);
      app.get('/x', guard, (_request, response) => void response.send('ok'));
    }
    for (const app of [express4(), express4.Router()]) {
      app.use(proxy);
      app.use('/api', proxy, guard);
      app.get('/x', guard, (_request, response) => void response.send('ok'));
    }
  });

  test('carry the proxy, which lets the holder answer Expect', () => {
    expectTypeOf(proxy.proxy.attachExpect(createServer())).toEqualTypeOf<() => void>();
  });

  test('what cannot be does not compile', () => {
    // @ts-expect-error -- no prefixes
    roleHolderProxy(leasehold, { role: 'maintenance' });
    // @ts-expect-error -- no role
    roleHolderProxy(leasehold, { prefixes: ['/maintenance'] });
    // @ts-expect-error -- not a duration
    roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/maintenance'], headTimeout: '10 seconds' });
    // @ts-expect-error -- no role
    requireRole(leasehold);
  });
});

describe('requirePartition', () => {
  test('is middleware of both versions, and knows the request by what is said of it', () => {
    const byField = requirePartition(leasehold, 'devices', ({ headers }) => headers['x-device-id']);
    expectTypeOf(byField).toEqualTypeOf<ConnectHandler>();
    const byId = requirePartition(leasehold, 'devices', (request: express.Request) => request.params['id'], { scope: 'Device' });
    express().get('/:id', byField, byId, (_request, response) => void response.send('ok'));
    express4().get('/:id', byField, byId, (_request, response) => void response.send('ok'));
  });

  test('what cannot be does not compile', () => {
    // @ts-expect-error -- no key
    requirePartition(leasehold, 'devices');
    // @ts-expect-error -- a key that has to be waited for
    requirePartition(leasehold, 'devices', async () => 'key');
    // @ts-expect-error -- a number is no key
    requirePartition(leasehold, 'devices', () => 7);
    // @ts-expect-error -- not an option
    requirePartition(leasehold, 'devices', () => 'key', { scop: 'Device' });
    // @ts-expect-error -- has no partitions
    requirePartition({ instance: leasehold.instance }, 'devices', () => 'key');
  });
});

describe('leaseholdLifecycle', () => {
  test('takes what listen() and createServer() return, of http and https', () => {
    const app = express();
    expectTypeOf(leaseholdLifecycle(leasehold, app.listen(0))).toEqualTypeOf<LeaseholdLifecycle>();
    leaseholdLifecycle(leasehold, express4().listen(0));
    leaseholdLifecycle(leasehold, createServer(app), { advertise: 'auto', closeTimeout: '10s', signals: ['SIGTERM'] });
    leaseholdLifecycle(leasehold, createSecureServer({}, app), { advertise: () => null, logger: console });
    // @ts-expect-error -- an application is no server
    leaseholdLifecycle(leasehold, app);
    // @ts-expect-error -- no signal of that name
    leaseholdLifecycle(leasehold, createServer(app), { signals: ['SIGTREM'] });
    expectTypeOf<{ closeTimeout: '10 seconds' }>().not.toExtend<LeaseholdLifecycleOptions>();
  });

  test('is disposed of asynchronously', () => {
    expectTypeOf<LeaseholdLifecycle>().toExtend<AsyncDisposable>();
    expectTypeOf<LeaseholdLifecycle['close']>().returns.toEqualTypeOf<Promise<void>>();
    expectTypeOf<LeaseholdLifecycle['closed']>().toEqualTypeOf<Promise<void>>();
  });
});
