import { createServer } from 'node:http';
import { createLeasehold, isLeaseholdError } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { leaseholdLifecycle, partitionHolderProxy, type PartitionHolderProxyOptions } from '@leasehold/express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { fakePartition } from '../../../test/support/http/fake-partition.ts';
import { httpServer } from '../../../test/support/http/servers.ts';
import { type Host, hosts } from './support/hosts.ts';
import { listenOn } from './support/listen.ts';
import { openUpgrade, rawExchange, upgradeLines } from '../../../test/support/raw.ts';

const options: PartitionHolderProxyOptions = {
  partition: 'devices',
  affinityKey: (request) => request.headers['x-device-id'],
  prefixes: ['/device-api'],
};

/** A key of even length belongs to the first role, which is held here; one of odd length to the second, held there. */
async function start({ express }: Host) {
  const there = await httpServer((request, response) => response.end(`there ${String(request.headers['leasehold-hop'])}`));
  there.server.on('upgrade', (request, socket) => {
    if (request.url === '/device-api/refused') socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n');
    else socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  const partition = fakePartition();
  partition.roles[0].isHeld = true;
  Object.assign(partition.roles[1], heldBy(there.origin));
  const leasehold = Object.assign(createLeasehold({ store: memoryStore() }), {
    getPartition: partition.getPartition.bind(partition),
  });
  const app = express().use(partitionHolderProxy(leasehold, options));
  app.use((_request, response) => void response.send('here'));
  const server = createServer(app);
  // Without a listener Node takes no upgrade for one.
  server.on('upgrade', (_, socket) => socket.destroy());
  const lifecycle = leaseholdLifecycle(leasehold, server, { closeTimeout: '1m' });
  onTestFinished(() => lifecycle.close());
  const origin = await listenOn(server);
  await lifecycle.ready;
  return { origin, lifecycle };
}

describe.each(hosts)('$name', (host) => {
  test('the key says where a request runs', async () => {
    const { origin } = await start(host);
    const ask = async (key: string): Promise<string> =>
      (await fetch(`${origin}/device-api/state`, { method: 'POST', body: 'x', headers: { 'x-device-id': key } })).text();
    expect(await ask('ab')).toBe('here');
    expect(await ask('abc')).toMatch(/^there devices%3Apartition-1;/);
    expect(await (await fetch(`${origin}/elsewhere`)).text()).toBe('here');
  });

  test('a request without one is answered with 400', async () => {
    const { origin } = await start(host);
    const answer = await fetch(`${origin}/device-api/state`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    expect(await answer.json()).toMatchObject({ status: 400, reason: 'affinity-key-missing', role: 'devices' });
  });

  test('the lifecycle finds it: upgrades go there, and do not hold up a close', async () => {
    const { origin, lifecycle } = await start(host);
    const refused = await rawExchange(origin, [...upgradeLines('/device-api/refused'), 'X-Device-Id: abc']);
    expect(refused).toMatch(/^HTTP\/1\.1 426 /);
    const tunnel = await openUpgrade(origin, '/device-api/live', ['X-Device-Id: abc']);
    expect(tunnel.text).toMatch(/^HTTP\/1\.1 101 /);
    await lifecycle.close();
    await tunnel.closed;
  });
});

test('what has no partitions is refused when the application is built', () => {
  let thrown: unknown;
  try {
    partitionHolderProxy({ instance: fakePartition().instance } as never, options);
  } catch (error) {
    thrown = error;
  }
  expect(isLeaseholdError(thrown, 'LEASEHOLD_INVALID_OPTION')).toBe(true);
});
