import { done, heldRoles } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { testLeasehold } from '../../../testing/src/test-leasehold.ts';
import { ScriptedSource } from './support/scripted-source.ts';
import { heedful, heldHandler, start, stop } from './support/start.ts';

const sourceOf = (rows: number): ScriptedSource => {
  const source = new ScriptedSource();
  source.insert(rows);
  return source;
};
const textsOf = (source: ScriptedSource): string[] => source.logger.lines.map(({ text }) => text);

describe('a row while its handler runs', () => {
  it('stays leased by renewals at a third of the lease', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { lease: '30s', timeout: 'none' }, sourceOf(1));
    await source.clock.advance(95_000);
    expect(source.calls.renew).toHaveLength(9);
    expect([source.row(1).due, held[0]?.signal.aborted]).toEqual([120_000, false]);
    held[0]?.finish();
    await source.clock.advance(60_000);
    expect([source.row(1).state, source.calls.renew.length, worker.stats().done]).toEqual(['done', 9, 1]);
  });

  it('that turns out to be lost has its signal aborted once, and its slot freed when it ends', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { lease: '30s', concurrency: 1 }, sourceOf(2));
    await source.clock.advance(1_000);
    let aborts = 0;
    held[0]?.signal.addEventListener('abort', () => (aborts += 1));
    source.steal(1);
    await source.clock.advance(9_000);
    expect([aborts, held[0]?.signal.reason]).toMatchObject([1, { code: 'LEASEHOLD_ROW_LOST' }]);
    held[0]?.fail(held[0].signal.reason);
    await source.clock.advance(20_000);
    expect([aborts, held.length, held[1]?.row.id]).toEqual([1, 2, 2]);
    expect(source.row(1)).toMatchObject({ token: 'another', state: 'live' });
    expect(worker.stats()).toMatchObject({ lost: 1, done: 0, running: 1 });
  });

  it('that waits here and turns out to be lost never comes to a handler', async () => {
    const source = sourceOf(60);
    const ids: number[] = [];
    const { handler, held } = heldHandler();
    const { worker } = start(
      (row, job) => (ids.push(row.id), row.id > 2 ? handler(row, job) : done()),
      { lease: '30s', concurrency: 1 },
      source,
    );
    await source.clock.advance(300);
    expect(worker.stats().waiting).toBeGreaterThan(2);
    source.steal(4);
    await source.clock.advance(15_000);
    held[0]?.finish();
    await source.clock.advance(10);
    expect(ids).toEqual([1, 2, 3, 5]);
    expect(source.row(4).token).toBe('another');
  });
});

describe('a handler that takes too long', () => {
  it('has its signal aborted before the lease would end without a renewal, and its row tried again', async () => {
    const { source, worker } = start(heedful, { lease: '30s', errorColumn: 'error', backoff: () => '1h' }, sourceOf(1));
    await source.clock.advance(26_999);
    expect(worker.stats().timedOut).toBe(0);
    await source.clock.advance(1);
    expect(worker.stats()).toMatchObject({ timedOut: 1, failed: 1, retried: 1, running: 0 });
    expect(source.row(1).set['error']).toMatch(/^LeaseholdError: the handler took longer than its timeout of 27000 ms/);
  });

  it('may still finish in its grace time', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { lease: '30s', timeout: '5s' }, sourceOf(1));
    await source.clock.advance(5_000);
    expect([held[0]?.signal.aborted, held[0]?.job.timeLeftMs]).toEqual([true, 0]);
    held[0]?.finish(done({ ok: true }));
    await source.clock.advance(10_000);
    expect(source.row(1)).toMatchObject({ state: 'done', set: { ok: true } });
    expect(worker.stats()).toMatchObject({ timedOut: 1, failed: 0, stuck: 0 });
  });

  it('and ignores its signal loses its row but not its slot, and this is said', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { lease: '30s', timeout: '5s', concurrency: 1, backoff: () => '1h' }, sourceOf(2));
    await source.clock.advance(8_001);
    expect(source.row(1)).toMatchObject({ state: 'live', token: null, due: 3_608_000 });
    expect(worker.stats()).toMatchObject({ stuck: 1, running: 1, retried: 1 });
    expect(textsOf(source)[0]).toMatch(/goes on in spite of its signal; its row is given up/);
    await source.clock.advance(100_000);
    expect(held).toHaveLength(1);
    held[0]?.finish();
    await source.clock.advance(10);
    expect(held.map(({ row }) => row.id)).toEqual([1, 2]);
    expect([source.row(1).state, worker.stats().done, worker.stats().stuck]).toEqual(['live', 0, 0]);
    expect(textsOf(source)).toContain('a handler whose row was given up has ended; its slot is free');
  });

  it('and ends long after its row was claimed again writes nothing', async () => {
    const { handler, held } = heldHandler();
    const { source } = start(handler, { lease: '30s', timeout: '5s', backoff: () => 1_000 }, sourceOf(1));
    await source.clock.advance(20_000);
    expect(held.length).toBeGreaterThan(1);
    const { token } = source.row(1);
    held[0]?.finish(done({ late: true }));
    await source.clock.advance(10);
    expect(source.row(1)).toMatchObject({ state: 'live', token, set: {} });
  });
});

describe('rows that are claimed ahead', () => {
  it('are none before it is known how long a handler takes', async () => {
    const { handler } = heldHandler();
    const { source, worker } = start(handler, { concurrency: 3 }, sourceOf(100));
    await source.clock.advance(10_000);
    expect(worker.stats()).toMatchObject({ running: 3, waiting: 0, claimed: 3 });
  });

  it('are none while handlers take seconds: ten of four seconds each are begun with their whole lease', async () => {
    const source = sourceOf(10);
    const leases: number[] = [];
    const { worker } = start(
      async (row) => {
        leases.push(source.row(row.id).due - source.clock.monotonic());
        await new Promise<void>((resolve) => source.clock.setTimer(resolve, 4_000));
      },
      { concurrency: 1, lease: '30s' },
      source,
    );
    await source.clock.advance(60_000);
    expect(worker.stats()).toMatchObject({ done: 10, lost: 0 });
    expect(leases).toHaveLength(10);
    expect(Math.min(...leases)).toBeGreaterThan(29_000);
  });

  it('are many where handlers are quick, and no more than asked', async () => {
    const source = sourceOf(5_000);
    const { worker } = start(() => {}, { concurrency: 10, prefetch: 300 }, source);
    await source.clock.advance(2_000);
    expect(worker.stats().done).toBe(5_000);
    expect(Math.max(...source.options.map(({ limit }) => limit ?? 0))).toBe(310);
    expect(source.calls.claim.length).toBeLessThan(60);
  });

  it('are prolonged while they wait', async () => {
    const source = sourceOf(40);
    const { handler } = heldHandler();
    const { worker } = start(
      (row, job) => (row.id <= 2 ? undefined : handler(row, job)),
      { concurrency: 2, lease: '30s', timeout: 'none' },
      source,
    );
    await source.clock.advance(100_000);
    const { waiting } = worker.stats();
    expect(waiting).toBeGreaterThan(5);
    const leased = [...source.rows.values()].filter(({ token }) => token !== null);
    expect(leased).toHaveLength(waiting + 2);
    expect(leased.every(({ due }) => due > 100_000)).toBe(true);
  });
});

describe('rows of a role', () => {
  it('are claimed by the roles held at each claim, and handed back with their attempt when the role has moved meanwhile', async () => {
    const { leasehold, hold, lose } = testLeasehold({ roles: ['mail'] });
    await leasehold.start();
    await hold('mail');
    const source = new ScriptedSource();
    source.insert(60, { role: 'mail' });
    const ids: number[] = [];
    const { handler, held } = heldHandler();
    const roles = heldRoles(leasehold, 'role');
    const started = start(
      (row, job) => (ids.push(row.id), row.id > 1 ? handler(row, job) : undefined),
      { where: roles, concurrency: 1 },
      source,
    );
    await source.clock.advance(300);
    expect(started.worker.stats().waiting).toBeGreaterThan(2);
    expect(source.options[0]?.where).toMatchObject({ values: [['mail']] });
    await lose('mail');
    held[0]?.finish();
    source.faults.claim = () => Promise.reject(new Error('the scripted table knows no where'));
    await source.clock.advance(10);
    expect(ids).toEqual([1, 2]);
    expect(source.row(3)).toMatchObject({ attempts: 0, token: null, state: 'live' });
    await source.clock.advance(1_000);
    expect(source.options.at(-1)?.where).toMatchObject({ values: [[]] });
    await stop(started);
    await leasehold.stop();
  });
});
