import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleLeasePlugin } from '@leasehold/fastify';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { notHeldFields } from './support/not-held.ts';

type DeviceRequest = FastifyRequest<{ Params: { id: string } }>;

const byParameter = (request: DeviceRequest): string => request.params.id;
const run = async (): Promise<string> => 'ran';

interface Made {
  readonly app: FastifyInstance;
  readonly lines: { readonly level: number; readonly msg: string }[];
}

/** Not listening. The first copy of a database holds all four roles. */
async function make(routes: (app: FastifyInstance) => unknown, database = new MemoryDatabase()): Promise<Made> {
  const lines: Made['lines'] = [];
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(JSON.parse(line)) } } });
  onTestFinished(() => app.close());
  const store = memoryStore({ database });
  await app.register(roleLeasePlugin, { store, leaseDuration: '2s', partitions: { devices: { count: 4 } } });
  routes(app);
  await app.ready();
  return { app, lines };
}

const holdsAll = ({ app }: Made): boolean => app.rolePartitions.get('devices').partitions.every(({ isHeld }) => isHeld);

async function pair(routes: (app: FastifyInstance) => unknown): Promise<[holder: FastifyInstance, other: FastifyInstance]> {
  const database = new MemoryDatabase();
  const holder = await make(routes, database);
  await expect.poll(() => holdsAll(holder)).toBe(true);
  const other = await make(routes, database);
  return [holder.app, other.app];
}

describe.each(['onRequest', 'preValidation', 'preHandler'] as const)('as %s', (hook) => {
  test('the route runs where the role of the key is held; elsewhere 503 with the problem of the proxy', async () => {
    const [holder, other] = await pair((app) =>
      app.get('/devices/:id', { [hook]: app.requirePartition('devices', byParameter) }, run),
    );
    expect((await holder.inject('/devices/device-42')).body).toBe('ran');
    const answer = await other.inject('/devices/device-42');
    const { role } = other.rolePartitions.get('devices').resolve('device-42');
    const { date: _, connection: __, ...headers } = answer.headers;
    expect(headers).toEqual(notHeldFields(answer.body));
    expect([answer.statusCode, answer.json()]).toEqual([503, expect.objectContaining({ reason: 'not-held', role })]);
  });
});

test('one role is given away: its keys are refused, in their scope, and no others', async () => {
  const made = await make((app) => {
    app.get('/devices/:id', { preHandler: app.requirePartition('devices', byParameter) }, run);
    app.get('/orders/:id', { preHandler: app.requirePartition('devices', byParameter, { scope: 'Order' }) }, run);
  });
  await expect.poll(() => holdsAll(made)).toBe(true);
  const devices = made.app.rolePartitions.get('devices');
  await devices.resolve('Order', '1').stepDown({ standAside: 'until-told' });
  for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) {
    const answers = [(await made.app.inject(`/devices/${id}`)).statusCode, (await made.app.inject(`/orders/${id}`)).statusCode];
    expect(answers).toEqual([devices.isHeld(id) ? 200 : 503, devices.isHeld('Order', id) ? 200 : 503]);
  }
});

test('as a hook of a plugin, for all its routes', async () => {
  const [holder, other] = await pair((app) =>
    app.register(async (child) => {
      child.addHook('onRequest', child.requirePartition('devices', byParameter));
      child.get('/devices/:id', run);
    }),
  );
  expect([(await holder.inject('/devices/1')).statusCode, (await other.inject('/devices/1')).statusCode]).toEqual([200, 503]);
});

describe('a key that is none has the answer of the proxy', () => {
  test.each<[string, Record<string, string | string[]>, string]>([
    ['missing', {}, 'affinity-key-missing'],
    ['empty', { 'x-device-id': '' }, 'affinity-key-missing'],
    ['too long', { 'x-device-id': 'k'.repeat(4_097) }, 'affinity-key-invalid'],
  ])('%s: 400', async (_what, headers, reason) => {
    const { app, lines } = await make((on) =>
      on.get('/state', { preHandler: on.requirePartition('devices', (request) => request.headers['x-device-id']) }, run),
    );
    const answer = await app.inject({ url: '/state', headers });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'application/problem+json']);
    expect(answer.headers['retry-after']).toBe(undefined);
    expect(answer.json()).toMatchObject({ status: 400, title: 'Bad Request', reason, role: 'devices' });
    expect(lines).toEqual([]);
  });

  test('a mistake of the application: 500, and one line in the log', async () => {
    const { app, lines } = await make((on) =>
      on.get('/state', { preHandler: on.requirePartition('devices', (async () => 'key') as never) }, run),
    );
    for (let i = 0; i < 2; i++) {
      const answer = await app.inject('/state');
      expect([answer.statusCode, answer.json()]).toEqual([500, expect.objectContaining({ reason: 'affinity-failed' })]);
    }
    expect(lines.map(({ msg }) => msg)).toEqual(['the affinity key of a request could not be told']);
  });
});

test('what cannot be throws at once', async () => {
  const { app } = await make(() => {});
  const refused = (code: string): unknown => expect.objectContaining({ code });
  expect(() => app.requirePartition('device', () => 'key')).toThrow(refused('LEASEHOLD_UNKNOWN_ROLE'));
  expect(() => app.requirePartition('devices', 'id' as never)).toThrow(refused('LEASEHOLD_INVALID_OPTION'));
  expect(() => app.requirePartition('devices', () => 'key', { scope: '' })).toThrow(refused('LEASEHOLD_INVALID_OPTION'));
  expect(() => app.requirePartition('devices', () => 'key', { scop: 'Order' } as never)).toThrow(
    refused('LEASEHOLD_INVALID_OPTION'),
  );
});
