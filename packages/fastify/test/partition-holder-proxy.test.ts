import cors from '@fastify/cors';
import { isLeaseholdError } from '@leasehold/core';
import { partitionHolderProxy, type PartitionHolderProxyPluginOptions } from '@leasehold/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { type FakePartition, fakePartition } from '../../../test/support/http/fake-partition.ts';
import { httpServer } from '../../../test/support/http/servers.ts';
import { rawExchange, upgradeLines } from '../../../test/support/raw.ts';

const options: PartitionHolderProxyPluginOptions = {
  partition: 'devices',
  affinityKey: (request) => request.headers['x-device-id'],
  prefixes: ['/device-api'],
};

async function start(leasehold: FakePartition, before?: (app: FastifyInstance) => unknown): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  before?.(app);
  app.register(partitionHolderProxy, { ...options, leasehold });
  app.get('/*', async () => 'here');
  // Without a listener Node takes no upgrade for one.
  app.server.on('upgrade', (_, socket) => socket.destroy());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

/** A key of even length belongs to the first role, which is held here; one of odd length to the second, held there. */
async function split(): Promise<FakePartition> {
  const there = await httpServer((request, response) => response.end(`there ${String(request.headers['leasehold-hop'])}`));
  there.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n'));
  const leasehold = fakePartition();
  leasehold.roles[0].isHeld = true;
  Object.assign(leasehold.roles[1], heldBy(there.origin));
  return leasehold;
}

describe('the key says where a request runs', () => {
  test('here, there, and outside the prefixes where it was sent', async () => {
    const { listeningOrigin } = await start(await split());
    const ask = async (path: string, key: string): Promise<string> =>
      (await fetch(`${listeningOrigin}${path}`, { method: 'POST', body: '{', headers: { 'x-device-id': key } })).text();
    expect(await ask('/device-api/state', 'abc')).toBe('there devices%3Apartition-1;app-01-aaaa;0');
    expect(await (await fetch(`${listeningOrigin}/device-api/state`, { headers: { 'x-device-id': 'ab' } })).text()).toBe('here');
    expect(await (await fetch(`${listeningOrigin}/elsewhere`)).text()).toBe('here');
  });

  test('of an upgrade too', async () => {
    const { listeningOrigin } = await start(await split());
    const answer = await rawExchange(listeningOrigin, [...upgradeLines('/device-api/live'), 'X-Device-Id: abc']);
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
  });

  test('a request without one is answered with 400, which a browser may read', async () => {
    const { listeningOrigin } = await start(await split(), (app) => app.register(cors, { origin: 'https://shop.test' }));
    const answer = await fetch(`${listeningOrigin}/device-api/state`, { headers: { origin: 'https://shop.test' } });
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('access-control-allow-origin')]).toEqual([
      400,
      null,
      'https://shop.test',
    ]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 400, reason: 'affinity-key-missing', role: 'devices' });
  });
});

describe('refused by app.ready()', () => {
  async function thrownBy(build: (app: FastifyInstance) => unknown): Promise<unknown> {
    const app = Fastify();
    onTestFinished(() => app.close());
    build(app);
    return app.ready().then(
      () => null,
      (error: unknown) => error,
    );
  }

  test.each<[string, (app: FastifyInstance) => unknown, RegExp]>([
    ['without a Leasehold', (app) => app.register(partitionHolderProxy, options), /roleLeasePlugin before partitionHolderProxy/],
    [
      'with one that has no partitions',
      (app) => app.register(partitionHolderProxy, { ...options, leasehold: { instance: fakePartition().instance } as never }),
      /give one that has partitions/,
    ],
    [
      'without an affinity key',
      (app) => app.register(partitionHolderProxy, { ...options, leasehold: fakePartition(), affinityKey: undefined as never }),
      /affinityKey is undefined/,
    ],
  ])('%s', async (_, build, message) => {
    const error = await thrownBy(build);
    expect(isLeaseholdError(error, 'LEASEHOLD_INVALID_OPTION')).toBe(true);
    expect((error as Error).message).toMatch(message);
  });
});
