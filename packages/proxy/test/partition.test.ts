import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createPartitionHolderProxy,
  partitionHolderProxy,
  type PartitionHolderProxyOptions,
  type PartitionView,
} from '../src/index.ts';
import { heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { type FakePartition, fakePartition } from '../../../test/support/http/fake-partition.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, rawHolder, unusedOrigin } from '../../../test/support/http/servers.ts';
import { spyLogger } from '../../../test/support/http/spy-logger.ts';

const options: PartitionHolderProxyOptions = {
  partition: 'devices',
  prefixes: ['/d'],
  affinityKey: (request) => request.headers['x-device-id'],
};

async function front(leasehold: FakePartition, change: Partial<PartitionHolderProxyOptions> = {}) {
  const handler = partitionHolderProxy(leasehold, { ...options, ...change });
  const local: string[] = [];
  const server = await httpServer((request, response) => {
    handler(request, response, () => {
      local.push(request.url ?? '');
      response.end('local');
    });
  });
  server.server.on('upgrade', (request, socket, head) => handler.proxy.handleUpgrade(request, socket, head));
  onTestFinished(() => handler.proxy.close());
  return { server, local, handler, connect: () => RawClient.connect(server.port) };
}

function get(key: string | null, path = '/d/x'): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${key === null ? '' : `X-Device-Id: ${key}\r\n`}\r\n`;
}

function holder(name: string) {
  return httpServer((request, response) => response.end(`${name} ${String(request.headers['leasehold-hop'])}`));
}

describe('the key chooses the holder', () => {
  test('two holders at a time, and a change of one of them', async () => {
    const leasehold = fakePartition();
    const [a, b, c] = [await holder('a'), await holder('b'), await holder('c')];
    Object.assign(leasehold.roles[0], heldBy(a.origin, 'a-1'));
    Object.assign(leasehold.roles[1], heldBy(b.origin, 'b-1'));
    const client = await (await front(leasehold)).connect();
    const ask = async (key: string): Promise<string> => (await client.send(get(key)).response()).text.slice(0, 1);
    expect([await ask('1'), await ask('12'), await ask('1')]).toEqual(['b', 'a', 'b']);
    Object.assign(leasehold.roles[0], heldBy(c.origin, 'c-1'));
    expect([await ask('1'), await ask('12')]).toEqual(['b', 'c']);
  });

  test('a scope is a component of its own', async () => {
    const leasehold = fakePartition();
    const { connect } = await front(leasehold, { scope: 'Order', affinityKey: (request) => request.url?.split('/').at(-1) });
    await (await connect()).send(get(null, '/d/o-17')).response();
    expect(leasehold.resolved).toEqual([['Order', 'o-17']]);
  });

  test('the key is asked for once, with the raw request, and not outside the prefixes', async () => {
    const leasehold = fakePartition();
    Object.assign(leasehold.roles[1], heldBy((await holder('there')).origin));
    const asked = vi.fn<(request: { method?: string; url?: string; rawHeaders: string[] }) => string>(() => 'abc');
    const client = await (await front(leasehold, { affinityKey: asked as unknown as () => string })).connect();
    await client.send(get('x', '/e')).response();
    expect(asked).not.toHaveBeenCalled();
    await client.send(get('x', '/d/%41?b=c')).response();
    expect(asked.mock.calls).toEqual([
      [expect.objectContaining({ method: 'GET', url: '/d/%41?b=c', rawHeaders: ['Host', 'a', 'X-Device-Id', 'x'] })],
    ]);
  });

  test('maxInFlight counts all roles together', async () => {
    const leasehold = fakePartition();
    const silent = await rawHolder(() => {});
    for (const role of leasehold.roles) Object.assign(role, heldBy(silent.origin));
    const { connect } = await front(leasehold, { maxInFlight: 1 });
    (await connect()).send(get('ab'));
    await vi.waitFor(() => expect(silent.received()).not.toBe(''));
    const answer = await (await connect()).send(get('abc')).response();
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'overloaded', role: 'devices:partition-1' });
  });

  test('a failure names the role of the key', async () => {
    const leasehold = fakePartition();
    Object.assign(leasehold.roles[1], heldBy(await unusedOrigin()));
    const answer = await (await (await front(leasehold)).connect()).send(get('abc')).response();
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'unreachable', role: 'devices:partition-1' });
    expect(answer.headers['retry-after']).toBe('13');
  });
});

test('a role that was quiet does not cost the others their connections', async () => {
  const leasehold = fakePartition();
  const [quiet, busy] = [await holder('quiet'), await holder('busy')];
  Object.assign(leasehold.roles[0], heldBy(quiet.origin));
  Object.assign(leasehold.roles[1], heldBy(busy.origin));
  const client = await (await front(leasehold)).connect();
  for (const key of ['1', '12', '1', '12']) await client.send(get(key)).response();
  expect([quiet.accepted.count, busy.accepted.count]).toEqual([1, 1]);
});

describe('a key that is none has one answer', () => {
  test('the longest key is a key', async () => {
    const leasehold = fakePartition();
    leasehold.roles[0].isHeld = true;
    const { connect } = await front(leasehold, { affinityKey: () => 'k'.repeat(4_096) });
    expect((await (await connect()).send(get(null)).response()).text).toBe('local');
  });

  test('a failure is said once, until it works again', async () => {
    const leasehold = fakePartition();
    const logger = spyLogger();
    let answer: unknown = 7;
    const { connect } = await front(leasehold, { logger, affinityKey: () => answer as string });
    const client = await connect();
    for (const next of [7, 8, 'ab', Promise.resolve('a')]) {
      answer = next;
      await client.send(get(null)).response();
    }
    expect(logger.error.mock.calls.map(([fields]) => (fields as { err: Error }).err.message)).toEqual([
      expect.stringContaining('affinityKey answered with 7'),
      expect.stringContaining('affinityKey answered with a promise'),
    ]);
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['answers with nothing', () => undefined],
    ['answers with a promise', () => Promise.resolve({})],
  ])('a partition that %s', async (_, resolve) => {
    const leasehold = { ...fakePartition(), getPartition: () => ({ resolve }) as unknown as PartitionView };
    const answer = await (await (await front(leasehold)).connect()).send(get('a')).response();
    expect([answer.status, JSON.parse(answer.text).reason]).toEqual([500, 'affinity-failed']);
  });
});

test('a view that is made for each call serves too, at the cost of a connection each', async () => {
  const leasehold = fakePartition();
  const there = await holder('there');
  const getPartition = (): PartitionView => ({ resolve: () => ({ ...leasehold.roles[1], ...heldBy(there.origin) }) });
  const client = await (await front({ ...leasehold, getPartition })).connect();
  for (let i = 0; i < 3; i++) expect((await client.send(get('abc')).response()).status).toBe(200);
  expect(there.accepted.count).toBe(3);
});

test('a partition that is not registered lets everything pass, and one line says so', async () => {
  const logger = spyLogger();
  const { connect } = await front(fakePartition(), { partition: 'device', logger });
  expect((await (await connect()).send(get(null)).response()).text).toBe('local');
  expect(logger.warn.mock.calls).toEqual([
    [{ partition: 'device' }, expect.stringContaining("The partition 'device' is not registered")],
  ]);
});

test.each([
  [undefined, 'options is undefined'],
  [{ ...options, partition: '' }, 'partition is ""'],
  [{ ...options, scope: '' }, 'scope is ""'],
  [{ ...options, scope: 7 }, 'scope is 7'],
  [{ ...options, affinityKey: 'x-device-id' }, 'affinityKey is "x-device-id"'],
  [{ ...options, maxInFlight: 0 }, 'maxInFlight is 0'],
])('%j is refused', (given, message) => {
  const create = (): unknown => createPartitionHolderProxy(fakePartition(), given as PartitionHolderProxyOptions);
  expect(create).toThrow(
    expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', message: expect.stringContaining(message) }),
  );
});
