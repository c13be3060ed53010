import { createLeasehold, type Leasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { HolderGuard, PartitionGuard } from '@leasehold/proxy/adapter';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPartitionHolderProxy, createRoleHolderProxy } from '../src/index.ts';
import { spyLogger } from '../../../test/support/http/spy-logger.ts';

const request = { url: '/x', method: 'GET', headers: {}, rawHeaders: [] } as never;
const affinityKey = (): string => 'key';
const prefixes = ['/x'];

function make(): Leasehold {
  const leasehold = createLeasehold({ store: memoryStore() });
  leasehold.role('maintenance');
  leasehold.partition('devices', { count: 2 });
  return leasehold;
}

function warnings(): string[] {
  const codes: string[] = [];
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((_, options) => {
    codes.push((options as { code?: string } | undefined)?.code ?? '');
  });
  onTestFinished(() => spy.mockRestore());
  return codes;
}

type Logged = { readonly logger?: ReturnType<typeof spyLogger> };

/** Each asks once whether a request may run here. */
const askers: readonly [string, (leasehold: Leasehold, logged: Logged) => () => unknown][] = [
  [
    'a proxy',
    (leasehold, logged) => {
      const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes, ...logged });
      return () => proxy.decide(request);
    },
  ],
  [
    'a proxy of a partition',
    (leasehold, logged) => {
      const proxy = createPartitionHolderProxy(leasehold, { partition: 'devices', affinityKey, prefixes, ...logged });
      return () => proxy.decide(request);
    },
  ],
  [
    'a guard of a partition',
    (leasehold, logged) => {
      const guard = new PartitionGuard(leasehold, { partition: 'devices', affinityKey, ...logged });
      return () => guard.check(request);
    },
  ],
];

describe.each(askers)('%s', (_, create) => {
  test('says once that nobody has called start(), in its log', () => {
    const [codes, logger] = [warnings(), spyLogger()];
    const leasehold = make();
    const ask = create(leasehold, { logger });
    for (let i = 0; i < 3; i++) ask();
    expect(logger.warn.mock.calls).toEqual([
      [{ instance: leasehold.instance.id }, expect.stringMatching(/not started.*call leasehold\.start\(\)/)],
    ]);
    expect(codes).toEqual([]);
  });

  test('without a log as a warning of the process', () => {
    const codes = warnings();
    const ask = create(make(), {});
    for (let i = 0; i < 3; i++) ask();
    expect(codes).toEqual(['LEASEHOLD_NOT_STARTED']);
  });

  test('not before start() has its first answer, nor while it stops, nor after', async () => {
    const codes = warnings();
    const leasehold = make();
    const ask = create(leasehold, {});
    const started = leasehold.start();
    ask();
    await started;
    ask();
    const stopped = leasehold.stop();
    ask();
    await stopped;
    ask();
    expect(codes).toEqual([]);
  });
});

test('a guard of a role says it as a warning of the process, and once with others of the same Leasehold', () => {
  const codes = warnings();
  const leasehold = make();
  const guards = [
    new HolderGuard(leasehold, 'maintenance'),
    new HolderGuard(leasehold, 'devices:partition-0'),
    new PartitionGuard(leasehold, { partition: 'devices', affinityKey }),
  ];
  for (const guard of guards) guard.check(request);
  expect(codes).toEqual(['LEASEHOLD_NOT_STARTED']);
});
