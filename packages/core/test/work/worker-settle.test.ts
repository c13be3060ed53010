import { LeaseholdError } from '@leasehold/core';
import { done, type Outcome } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { type Call, ScriptedSource, type TestRow } from './support/scripted-source.ts';
import { heldHandler, start, stop } from './support/start.ts';

const sourceOf = (rows: number): ScriptedSource => {
  const source = new ScriptedSource();
  source.insert(rows);
  return source;
};
const sizes = (source: ScriptedSource): number[] => source.calls.settle.map(({ outcomes = [] }) => outcomes.length);
const sqlError = (code: string): Error => Object.assign(new Error(`SQLSTATE ${code}`), { code, severity: 'ERROR' });
const idsIn = ({ outcomes = [] }: Call): number[] => outcomes.map(({ row }: Outcome<TestRow>) => (row as TestRow).id);
const hang = (): Promise<never> => new Promise(() => {});

describe('outcomes', () => {
  it('of rows that end together are written together', async () => {
    const { handler, held } = heldHandler();
    const { source } = start(handler, { concurrency: 20 }, sourceOf(20));
    await source.clock.advance(0);
    for (const { finish } of held.slice(0, 12)) finish();
    await source.clock.advance(4);
    expect(sizes(source)).toEqual([]);
    await source.clock.advance(1);
    expect(sizes(source)).toEqual([12]);
    for (const { finish } of held.slice(12, 20)) finish();
    await source.clock.advance(0);
    expect(sizes(source)).toEqual([12, 8]);
    expect(source.open.size).toBe(0);
  });

  it('of different kinds are of one batch', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { concurrency: 3 }, sourceOf(3));
    await source.clock.advance(0);
    held[0]?.finish(done());
    held[1]?.fail(new Error('x'));
    held[2]?.finish();
    await source.clock.advance(0);
    expect(sizes(source)).toEqual([3]);
    expect(worker.stats()).toMatchObject({ done: 2, retried: 1 });
  });

  it('of a row that was deleted meanwhile, or is another worker’s, are no error', async () => {
    const { handler, held } = heldHandler();
    const { source, worker } = start(handler, { concurrency: 3 }, sourceOf(3));
    await source.clock.advance(0);
    source.rows.delete(1);
    source.steal(2);
    for (const { finish } of held) finish();
    await source.clock.advance(10);
    expect(worker.stats()).toMatchObject({ done: 1, lost: 2, unsettled: 0 });
    expect(source.row(2)).toMatchObject({ token: 'another', state: 'live' });
  });
});

describe('a write of outcomes that fails in passing', () => {
  it.for(['40P01', '40001', '57P01', '08006', '53300'])('(%s) is tried again, and holds up claims meanwhile', async (code) => {
    const source = sourceOf(100);
    source.faults.settle = () => (source.clock.monotonic() < 400 ? Promise.reject(sqlError(code)) : undefined);
    const { worker } = start(() => {}, { concurrency: 5, prefetch: 0 }, source);
    await source.clock.advance(399);
    expect([source.calls.settle.length, source.calls.claim.length, worker.stats().unsettled]).toEqual([10, 2, 10]);
    await source.clock.advance(2_000);
    expect(worker.stats()).toMatchObject({ done: 100, abandoned: 0, unsettled: 0 });
    expect(source.logger.lines).toEqual([]);
  });

  it('for longer than the lease is given up: the rows are claimed again, nothing piles up, and the loop goes on', async () => {
    const source = sourceOf(30);
    source.faults.settle = () => Promise.reject(new Error('read ECONNRESET'));
    const { worker } = start(() => {}, { concurrency: 5, prefetch: 0, lease: '10s' }, source);
    await source.clock.advance(9_000);
    expect([source.calls.claim.length, worker.stats().unsettled]).toEqual([2, 10]);
    await source.clock.advance(2_000);
    expect(worker.stats().abandoned).toBe(10);
    expect(worker.stats().unsettled).toBeLessThanOrEqual(10);
    expect(source.logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    source.faults = {};
    await source.clock.advance(60_000);
    expect([...source.rows.values()].every(({ state }) => state === 'done')).toBe(true);
    expect([source.open.size, worker.stats().unsettled]).toEqual([0, 0]);
  });

  it('as it has no answer is given up by the end of the lease', async () => {
    const source = sourceOf(1);
    source.faults.settle = ({ nth }) => (nth === 1 ? hang() : undefined);
    const { worker } = start(() => {}, { lease: '10s' }, source);
    await source.clock.advance(60_000);
    expect(worker.stats()).toMatchObject({ abandoned: 1, done: 1, unsettled: 0 });
  });

  it('is not told as done where a handler that was given up is finishing the row itself', async () => {
    const source = sourceOf(1);
    source.faults.settle = ({ nth }) => {
      if (nth === 1) throw new LeaseholdError('LEASEHOLD_ALREADY_SETTLED', 'settled before');
    };
    const { worker } = start(() => {}, { timeout: 'none' }, source);
    await source.clock.advance(100);
    expect(worker.stats()).toMatchObject({ done: 0, abandoned: 1, unsettled: 0 });
  });
});

describe('an outcome that the database refuses for what one row says', () => {
  const poison = (source: ScriptedSource, id: number, refuses: (outcome: Outcome<TestRow>) => boolean = () => true): void => {
    source.faults.settle = (call) => {
      const outcome = call.outcomes?.find(({ row }) => (row as TestRow).id === id);
      if (outcome !== undefined && refuses(outcome)) throw sqlError('23514');
    };
  };

  it('costs that row alone: all others of the batch are done', async () => {
    const source = sourceOf(64);
    poison(source, 33, ({ outcome }) => outcome === 'done');
    const { worker } = start(() => {}, { concurrency: 64, errorColumn: 'error', backoff: () => '1h' }, source);
    await source.clock.advance(100);
    expect(worker.stats()).toMatchObject({ done: 63, retried: 1, claimed: 64 });
    expect(source.row(33)).toMatchObject({
      state: 'live',
      token: null,
      due: 3_600_000,
      set: { error: 'Error: SQLSTATE 23514' },
    });
    expect(source.calls.settle.length).toBeLessThan(20);
  });

  it('is replaced by one without the columns that were refused', async () => {
    const source = sourceOf(2);
    poison(source, 1, (outcome) => Object.keys(('set' in outcome && outcome.set) || {}).length > 0);
    start(() => done({ status: 'nonsense' }), { errorColumn: 'error', backoff: () => '1h' }, source);
    await source.clock.advance(100);
    expect(source.row(1)).toMatchObject({ state: 'live', due: 3_600_000, set: {} });
    expect(source.row(2).state).toBe('done');
  });

  it('and of every other row too, spaces the claims: handlers should not do for nothing what nobody can write down', async () => {
    const source = Object.assign(sourceOf(20), { attempts: null });
    source.faults.settle = () => Promise.reject(new LeaseholdError('LEASEHOLD_WORK_TABLE', 'it has no column completed_at'));
    let calls = 0;
    const started = start(() => void (calls += 1), { lease: '1s', concurrency: 5, prefetch: 0 }, source);
    await source.clock.advance(600_000);
    expect(calls).toBeLessThan(300);
    expect(source.logger.lines).toHaveLength(1);
    source.faults = {};
    await source.clock.advance(60_000);
    expect([...source.rows.values()].every(({ state }) => state === 'done')).toBe(true);
    await stop(started);
  });

  it('whatever it is, is claimed again after the lease, until its attempts are used up', async () => {
    const source = sourceOf(3);
    poison(source, 2);
    const { worker } = start(() => {}, { lease: '10s' }, source);
    await source.clock.advance(300_000);
    expect([...source.rows.values()].map(({ state }) => state)).toEqual(['done', 'dead', 'done']);
    expect(worker.stats()).toMatchObject({ abandoned: 3, unsettled: 0, buried: 1 });
    expect(source.open.size).toBe(0);
  });
});

describe('outcomes that pile up', () => {
  it('hold up claims, so that there is a bound to what is not written', async () => {
    const source = sourceOf(3_000);
    source.faults.settle = () => new Promise<void>((resolve) => source.clock.setTimer(resolve, 5_000));
    const { worker } = start(() => {}, { concurrency: 10, prefetch: 50 }, source);
    let most = 0;
    for (let second = 0; second < 60; second += 1) {
      await source.clock.advance(1_000);
      most = Math.max(most, worker.stats().unsettled);
    }
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThanOrEqual(180);
  });

  it('are written by a few statements at a time', async () => {
    const source = sourceOf(50);
    let underWay = 0;
    let most = 0;
    source.faults.settle = async () => {
      most = Math.max(most, (underWay += 1));
      await new Promise<void>((resolve) => source.clock.setTimer(resolve, 200));
      underWay -= 1;
    };
    const started = start(
      (row) => new Promise<void>((resolve) => source.clock.setTimer(resolve, 1_000 + row.id * 20)),
      { concurrency: 50, prefetch: 0 },
      source,
    );
    for (let id = 51; id <= 200; id += 1) source.insert(1);
    await source.clock.advance(30_000);
    expect(most).toBeLessThanOrEqual(4);
    expect(started.worker.stats().done).toBe(200);
    expect(new Set(source.calls.settle.flatMap(idsIn)).size).toBe(200);
    await stop(started);
  });
});
