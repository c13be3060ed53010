import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { requirePartition } from '@leasehold/express';
import type { Request } from 'express';
import { describe, expect, test, vi } from 'vitest';
import { type Copy, type Parts, startPair } from './support/copies.ts';
import { type Host, hosts } from './support/hosts.ts';

const errors = vi.fn<(fields: object, message: string) => void>();
const logger = { debug() {}, info() {}, warn() {}, error: errors };

const byParameter = (request: Request): string | string[] | undefined => request.params['id'];

function guardedRoutes({ app, leasehold, label }: Parts): void {
  leasehold.partition('devices', { count: 4 });
  const run = (_request: Request, response: { send(body: string): unknown }): void => void response.send(label);
  app.get('/devices/:id', requirePartition(leasehold, 'devices', byParameter), run);
  app.get('/orders/:id', requirePartition(leasehold, 'devices', byParameter, { scope: 'Order' }), run);
  app.get(
    '/state',
    requirePartition(leasehold, 'devices', ({ headers }) => headers['x-device-id']),
    run,
  );
  app.get('/failing', requirePartition(leasehold, 'devices', (async () => 'key') as never, { logger }), run);
}

async function startHolding(host: Host): Promise<{ holder: Copy; other: Copy }> {
  const { holder, other } = await startPair(host, { routes: guardedRoutes });
  return { holder, other };
}

describe.each(hosts)('$name', (host: Host) => {
  test('the route runs where the role of the key is held; elsewhere 503 with the body of the proxy', async () => {
    const { holder, other } = await startHolding(host);
    const devices = holder.leasehold.getPartition('devices');
    await expect.poll(() => devices.isHeld('device-42')).toBe(true);
    expect(await (await fetch(`${holder.origin}/devices/device-42`)).text()).toBe('holder');
    const answer = await fetch(`${other.origin}/devices/device-42`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await answer.json()).toMatchObject({ reason: 'not-held', role: devices.resolve('device-42').role });
  });

  test('one role is given away: its keys are refused, in their scope, and no others', async () => {
    const { holder } = await startHolding(host);
    const devices = holder.leasehold.getPartition('devices');
    await expect.poll(() => devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    await devices.resolve('Order', '1').stepDown({ standAside: 'until-told' });
    for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      const asked = [await fetch(`${holder.origin}/devices/${id}`), await fetch(`${holder.origin}/orders/${id}`)];
      expect(asked.map(({ status }) => status)).toEqual([
        devices.isHeld(id) ? 200 : 503,
        devices.isHeld('Order', id) ? 200 : 503,
      ]);
    }
  });

  test('without a key 400, as by the proxy; where it is no key 500, and one line in the log', async () => {
    const { holder } = await startHolding(host);
    const missing = await fetch(`${holder.origin}/state`);
    expect([missing.status, missing.headers.get('retry-after')]).toEqual([400, null]);
    expect(await missing.json()).toMatchObject({ status: 400, reason: 'affinity-key-missing', role: 'devices' });
    errors.mockClear();
    for (let i = 0; i < 2; i++) {
      const failed = await fetch(`${holder.origin}/failing`);
      expect([failed.status, await failed.json()]).toEqual([500, expect.objectContaining({ reason: 'affinity-failed' })]);
    }
    expect(errors.mock.calls.map(([, message]) => message)).toEqual(['the affinity key of a request could not be told']);
  });
});

test('what cannot be is refused when the application is built', () => {
  const leasehold = createLeasehold({ store: memoryStore() });
  leasehold.partition('devices', { count: 4 });
  const refused = (code: string, option?: string): unknown =>
    expect.objectContaining({ code, ...(option === undefined ? {} : { option }) });
  const key = (): string => 'key';
  expect(() => requirePartition(leasehold, 'device', key)).toThrow(refused('LEASEHOLD_UNKNOWN_ROLE'));
  expect(() => requirePartition(leasehold, '', key)).toThrow(refused('LEASEHOLD_INVALID_OPTION', 'partition'));
  expect(() => requirePartition(leasehold, 'devices', 'id' as never)).toThrow(refused('LEASEHOLD_INVALID_OPTION', 'affinityKey'));
  expect(() => requirePartition(leasehold, 'devices', key, { scope: '' })).toThrow(refused('LEASEHOLD_INVALID_OPTION', 'scope'));
  expect(() => requirePartition(leasehold, 'devices', key, { scop: 'x' } as never)).toThrow(
    refused('LEASEHOLD_INVALID_OPTION', 'scop'),
  );
  expect(() => requirePartition('devices' as never, 'devices', key)).toThrow(refused('LEASEHOLD_INVALID_OPTION', 'leasehold'));
});
