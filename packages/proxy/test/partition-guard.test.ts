import { PartitionGuard, type PartitionGuardOptions } from '@leasehold/proxy/adapter';
import { describe, expect, test } from 'vitest';
import { heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { fakePartition } from '../../../test/support/http/fake-partition.ts';
import { rejectedWith } from '../../../test/support/http/published.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer } from '../../../test/support/http/servers.ts';
import { spyLogger } from '../../../test/support/http/spy-logger.ts';

interface Asked {
  readonly key: unknown;
}

const options: PartitionGuardOptions<Asked> = { partition: 'devices', affinityKey: ({ key }) => key as string };

/** A key of even length belongs to the first role. */
function guarded(change: Partial<PartitionGuardOptions<Asked>> = {}) {
  const leasehold = fakePartition();
  leasehold.roles[0].isHeld = true;
  Object.assign(leasehold.roles[1], heldBy('http://app-02.internal:3000'));
  return { leasehold, guard: new PartitionGuard(leasehold, { ...options, ...change }) };
}

test('it asks anew for each request', () => {
  const { leasehold, guard } = guarded();
  expect([guard.check({ key: 'ab' }), guard.check({ key: 'abc' })?.role]).toEqual([null, 'devices:partition-1']);
  leasehold.roles[0].isHeld = false;
  leasehold.roles[1].isHeld = true;
  expect([guard.check({ key: 'ab' })?.role, guard.check({ key: 'abc' })]).toEqual(['devices:partition-0', null]);
});

test('a scope is a component of its own', () => {
  const { leasehold, guard } = guarded({ scope: 'Order' });
  guard.check({ key: '7' });
  expect(leasehold.resolved).toEqual([['Order', '7']]);
});

describe('tell()', () => {
  test.each<[string, unknown, number, string]>([
    ['held elsewhere', 'abc', 503, 'not-held'],
    ['missing', undefined, 400, 'affinity-key-missing'],
    ['null', null, 400, 'affinity-key-missing'],
    ['empty', '', 400, 'affinity-key-missing'],
    ['more than one', ['a', 'b'], 400, 'affinity-key-invalid'],
    ['too long', 'k'.repeat(4_097), 400, 'affinity-key-invalid'],
    ['a number', 7, 500, 'affinity-failed'],
    ['a promise', Promise.resolve('ab'), 500, 'affinity-failed'],
  ])('a key that is %s', (_what, key, status, reason) => {
    const messages = rejectedWith('BREW');
    const refusal = guarded().guard.check({ key });
    const problem = refusal?.tell('BREW');
    const isNotHeld = status === 503;
    const role = isNotHeld ? 'devices:partition-1' : 'devices';
    expect([refusal?.role, refusal?.isNotHeld, problem?.status]).toEqual([role, isNotHeld, status]);
    expect(problem?.body).toMatchObject({ status, reason, role });
    expect(JSON.stringify(problem)).not.toMatch(/app-0/);
    expect(Object.keys(problem?.headers ?? {}).includes('Retry-After')).toBe(isNotHeld);
    expect(messages).toMatchObject([{ instance: 'app-01-aaaa', role, reason, statusCode: status, method: 'BREW' }]);
  });
});

test('answer() is that of tell(), over node:http', async () => {
  const { guard } = guarded();
  const server = await httpServer((request, response) => guard.check({ key: request.headers['x-key'] })?.answer(response));
  const client = await RawClient.connect(server.port);
  const missing = await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').response();
  expect([missing.status, JSON.parse(missing.text)]).toEqual([400, guard.check({ key: '' })?.tell('GET').body]);
  const elsewhere = await client.send('GET / HTTP/1.1\r\nHost: a\r\nX-Key: abc\r\n\r\n').response();
  expect([elsewhere.status, elsewhere.headers['retry-after']]).toEqual([503, '3']);
});

test('a failure is said once, until it works again, and a logger that throws costs no answer', () => {
  const logger = spyLogger();
  logger.error.mockImplementation(() => {
    throw new Error('the disk is full');
  });
  const { guard } = guarded({ logger });
  for (const key of [7, 8, 'ab', 9]) guard.check({ key });
  expect(logger.error.mock.calls.map(([fields]) => (fields as { err: Error }).err.message)).toEqual([
    expect.stringContaining('affinityKey answered with 7'),
    expect.stringContaining('affinityKey answered with 9'),
  ]);
});

test.each([
  [{ partition: 'device' }, 'LEASEHOLD_UNKNOWN_ROLE'],
  [{ partition: '' }, 'LEASEHOLD_INVALID_OPTION'],
  [{ affinityKey: 'x-device-id' }, 'LEASEHOLD_INVALID_OPTION'],
  [{ scope: '' }, 'LEASEHOLD_INVALID_OPTION'],
])('%j is refused at once', (change, code) => {
  expect(() => guarded(change as never)).toThrow(expect.objectContaining({ code }));
});

test('so is what has no partitions', () => {
  const make = (): unknown => new PartitionGuard({ instance: {} } as never, options);
  expect(make).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option: 'leasehold' }));
});
