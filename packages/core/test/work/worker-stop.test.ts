import { done } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { ScriptedSource } from './support/scripted-source.ts';
import { heedful, heldHandler, start, stop } from './support/start.ts';

const sourceOf = (rows: number): ScriptedSource => {
  const source = new ScriptedSource();
  source.insert(rows);
  return source;
};
const hang = (): Promise<never> => new Promise(() => {});

describe('stop', () => {
  it('claims no more, lets handlers end, and settles their rows', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { concurrency: 2 }, sourceOf(9));
    await source.clock.advance(1_000);
    const stopped = worker.stop();
    expect(worker.state).toBe('stopping');
    await source.clock.advance(5_000);
    expect(held.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    for (const { finish } of held) finish();
    await source.clock.advance(0);
    await stopped;
    await worker.ended;
    expect([worker.state, source.calls.claim.length, held.length]).toEqual(['stopped', 1, 2]);
    expect(worker.stats()).toMatchObject({ done: 2, running: 0, unsettled: 0 });
    expect(source.open.size).toBe(0);
    await source.clock.advance(600_000);
    expect(source.calls.claim).toHaveLength(1);
  });

  it('hands back what waits, with its attempt', async () => {
    const { handler, held } = heldHandler();
    const source = sourceOf(60);
    const { worker } = start((row, job) => (row.id > 1 ? handler(row, job) : undefined), { concurrency: 1 }, source);
    await source.clock.advance(300);
    const { waiting } = worker.stats();
    expect(waiting).toBeGreaterThan(3);
    const stopped = worker.stop();
    await source.clock.advance(10);
    expect(worker.stats().released).toBe(waiting);
    const untouched = [...source.rows.values()].filter(
      ({ attempts, token, state }) => attempts === 0 && token === null && state === 'live',
    );
    expect(untouched).toHaveLength(58);
    held[0]?.finish();
    await source.clock.advance(10);
    await stopped;
  });

  it('aborts the signals after drainFor, and hands back with its attempt what heeds that', async () => {
    const source = sourceOf(1);
    const started = start(heedful, {}, source);
    await source.clock.advance(0);
    let isOver = false;
    const stopped = started.worker.stop({ drainFor: '3s' }).then(() => (isOver = true));
    await source.clock.advance(2_999);
    expect([started.worker.stats().running, isOver]).toEqual([1, false]);
    await source.clock.advance(1);
    await stopped;
    expect(source.row(1)).toMatchObject({ state: 'live', token: null, attempts: 0 });
    expect(started.worker.stats()).toMatchObject({ released: 1, failed: 0, running: 0 });
  });

  it('leaves leased what goes on in spite of its signal, as it may be still at it, and says so', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { lease: '1m' }, sourceOf(1));
    await source.clock.advance(0);
    const stopped = worker.stop({ drainFor: '10s' });
    await source.clock.advance(16_000);
    await stopped;
    expect(held[0]?.signal.reason).toMatchObject({ code: 'LEASEHOLD_WORKER_STOPPED' });
    expect(source.row(1).token).not.toBeNull();
    expect(source.logger.lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^a handler goes on in spite of its signal/),
      expect.stringMatching(/^the worker stopped with handlers that go on/),
    ]);
    const { due } = source.row(1);
    await source.clock.advance(100_000);
    expect([source.row(1).due, source.open.size]).toEqual([due, 0]);
    held[0]?.finish();
    await source.clock.advance(10);
    expect([source.row(1).state, worker.stats().running]).toEqual(['live', 0]);
  });

  it('keeps what a handler made of its row that ended by itself after the abort', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, {}, sourceOf(1));
    await source.clock.advance(0);
    const stopped = worker.stop({ drainFor: 0 });
    await source.clock.advance(1_000);
    held[0]?.finish(done({ ok: true }));
    await source.clock.advance(10);
    await stopped;
    expect(source.row(1)).toMatchObject({ state: 'done', set: { ok: true } });
  });

  it('hands back the rows of a claim that was on its way', async () => {
    const source = sourceOf(3);
    source.faults.claim = () => new Promise<void>((resolve) => source.clock.setTimer(resolve, 2_000));
    let calls = 0;
    const { worker } = start(() => void (calls += 1), {}, source);
    await source.clock.advance(0);
    const stopped = worker.stop();
    await source.clock.advance(2_010);
    await stopped;
    expect([calls, worker.stats().released]).toEqual([0, 3]);
    expect([...source.rows.values()].every(({ token, attempts }) => token === null && attempts === 0)).toBe(true);
  });

  it('ends although the database hangs, in claim or settlement', async () => {
    for (const fault of ['claim', 'settle'] as const) {
      const source = sourceOf(1);
      source.faults[fault] = hang;
      const { worker } = start(() => {}, {}, source);
      await source.clock.advance(10);
      const stopped = worker.stop();
      await source.clock.advance(10_000);
      await stopped;
      expect(worker.state).toBe('stopped');
    }
  });

  it('ends while it pauses, and while the database is away, at once', async () => {
    for (const fault of [undefined, () => Promise.reject(new Error('away'))]) {
      const source = new ScriptedSource();
      if (fault !== undefined) source.faults.claim = fault;
      const { worker } = start(() => {}, {}, source);
      await source.clock.advance(100_000);
      await worker.stop();
      expect(worker.state).toBe('stopped');
    }
  });

  it('is one, however often it is called, and disposes', async () => {
    const { worker } = start(() => {});
    const first = worker.stop();
    expect(worker.stop({ drainFor: 5 })).toBe(first);
    await Promise.all([first, worker[Symbol.asyncDispose](), worker.ended]);
  });

  it('leaves no timer behind', async () => {
    const started = start(() => {}, { lease: '10s' }, sourceOf(50));
    await started.source.clock.advance(1_000);
    await stop(started, 100_000);
    expect(started.source.clock.pendingTimers).toBe(0);
  });

  it('may be called by a handler, which is waited for no longer than by others', async () => {
    const source = sourceOf(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { worker } = start(() => worker.stop({ drainFor: '1s' }).then(resolve), {}, source);
    await source.clock.advance(20_000);
    await promise;
    expect(worker.state).toBe('stopped');
  });
});
