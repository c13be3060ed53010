import { partitionHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';

type DeviceRequest = FastifyRequest<{ Params: { id: string } }>;

/** Hands over at once, and loses nothing on a machine that is busy with something else. */
const TIMING = { leaseDuration: '20s', renewInterval: '250ms' } as const;

interface Start {
  readonly label: string;
  readonly count?: number;
}

async function start({ connectionString, schema }: TestDatabase, { label, count = 8 }: Start): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  await app.register(roleLeasePlugin, {
    connectionString,
    schema,
    instance: { label },
    ...TIMING,
    partitions: { devices: { count, balance: 'fair' } },
  });
  const affinityKey = ({ url = '' }: { url?: string | undefined }): string | undefined => url.split('/').at(2);
  await app.register(partitionHolderProxy, { partition: 'devices', affinityKey, prefixes: ['/devices'] });
  const ofDevice = app.requirePartition('devices', ({ params }: DeviceRequest) => params.id);
  app.get('/devices/:id', { preHandler: ofDevice }, async () => label);
  app.get('/local/:id', { preHandler: ofDevice }, async () => label);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

const held = (app: FastifyInstance): number => app.roleLeases.heldRoles().length;
const KEYS = Array.from({ length: 12 }, (_, index) => `device-${index}`);

test('two copies share the roles, and each key is answered by its owner, wherever it is asked', async ({ database }) => {
  const first = await start(database, { label: 'first' });
  expect(held(first)).toBe(8);
  const second = await start(database, { label: 'second' });
  await expect.poll(() => [held(first), held(second)], { timeout: 20_000 }).toEqual([4, 4]);
  const knowsAll = (app: FastifyInstance): boolean =>
    app.rolePartitions
      .get('devices')
      .partitions.every(({ isHeld, currentHolderAddress }) => isHeld || currentHolderAddress !== null);
  await expect.poll(() => [knowsAll(first), knowsAll(second)]).toEqual([true, true]);

  const answers = new Set<string>();
  for (const key of KEYS) {
    const owner = first.rolePartitions.get('devices').isHeld(key) ? 'first' : 'second';
    answers.add(owner);
    for (const app of [first, second]) {
      expect(await (await fetch(`${app.listeningOrigin}/devices/${key}`)).text()).toBe(owner);
    }
    const guarded = [await fetch(`${first.listeningOrigin}/local/${key}`), await fetch(`${second.listeningOrigin}/local/${key}`)];
    expect(guarded.map(({ status }) => status)).toEqual(owner === 'first' ? [200, 503] : [503, 200]);
  }
  expect(answers).toEqual(new Set(['first', 'second']));
}, 60_000);

test('a copy with another count does not come up', async ({ database }) => {
  await start(database, { label: 'first' });
  await expect(start(database, { label: 'second', count: 16 })).rejects.toMatchObject({ code: 'LEASEHOLD_PARTITION_COUNT' });
});
