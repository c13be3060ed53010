import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { bury, done, exponential, release, retryIn } from '@leasehold/core/work';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ScriptedSource } from './support/scripted-source.ts';
import { type Handler, heldHandler, start, stop } from './support/start.ts';

let scripted: ScriptedSource;

/** One row, its handler called once. */
async function once(handler: Handler, options: object = {}) {
  const source = new ScriptedSource();
  scripted = source;
  source.insert(1);
  let calls = 0;
  const started = start((row, job) => ((calls += 1) === 1 ? handler(row, job) : new Promise(() => {})), options, source);
  await source.clock.advance(10);
  return { ...started, row: source.row(1), stats: started.worker.stats() };
}

describe('the row of a handler', () => {
  it('that returns nothing is done', async () => {
    const { row, stats } = await once(() => {});
    expect([row.state, row.token, stats.done]).toEqual(['done', null, 1]);
  });

  it('that returns an outcome gets it', async () => {
    expect((await once(() => done({ answer: 42 }))).row).toMatchObject({ state: 'done', set: { answer: 42 } });
    expect((await once(() => retryIn('5m', { error: 'busy' }))).row).toMatchObject({
      state: 'live',
      due: 300_000,
      attempts: 1,
      set: { error: 'busy' },
    });
    expect((await once(() => bury('gone for good', { note: 1 }))).row).toMatchObject({
      state: 'dead',
      set: { reason: 'gone for good', note: 1 },
    });
  });

  it('that hands it back has its attempt back too', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    const attempts: (number | null)[] = [];
    const started = start((_row, job) => (attempts.push(job.attempt), attempts.length === 1 ? release() : done()), {}, source);
    await source.clock.advance(2_000);
    expect(attempts).toEqual([1, 1]);
    await stop(started);
  });

  it.for<[string, Handler]>([
    ['throws', () => Promise.reject(new Error('boom'))],
    [
      'throws synchronously',
      () => {
        throw new Error('boom');
      },
    ],
  ])('that %s is tried again after the backoff, with the error written down', async ([, handler]) => {
    const { row, stats, source } = await once(handler, { errorColumn: 'error', backoff: () => '7s' });
    expect(row).toMatchObject({ state: 'live', attempts: 1, due: 7_000, set: { error: 'Error: boom' } });
    expect([stats.failed, stats.retried]).toEqual([1, 1]);
    // pino shows the message and the stack of an error that is called `err`, and of no other.
    expect(source.logger.lines).toMatchObject([
      {
        text: 'a handler failed; its row is tried again later',
        fields: { attempt: 1, outcome: 'retry', err: { message: 'boom' } },
      },
    ]);
  });

  it.for([null, undefined, 'text', Object.create(null)])('that throws %o is tried again too', async (thrown) => {
    const { row } = await once(() => Promise.reject(thrown), { errorColumn: 'error' });
    expect(row).toMatchObject({ state: 'live', attempts: 1, set: { error: expect.any(String) } });
  });

  it('is told to the backoff with its attempt and its error', async () => {
    const told: unknown[] = [];
    await once(() => Promise.reject(new Error('x')), { backoff: (...args: unknown[]) => (told.push(...args), 1_000) });
    expect(told).toEqual([1, new Error('x'), { id: 1, attempts: 1, role: null }]);
  });

  it.for([
    () => -1,
    () => Number.NaN,
    () => 'soon',
    () => undefined,
    () => new Date(Number.NaN),
    () => {
      throw new Error('no');
    },
  ])('is tried again by the usual backoff when the given one answers nonsense (%#)', async (backoff) => {
    const { row } = await once(() => Promise.reject(new Error('x')), { backoff });
    const usual = exponential(1, { jitter: 0 });
    expect(row.due).toBeGreaterThanOrEqual(usual);
    expect(row.due).toBeLessThanOrEqual(usual * 1.25 + 10);
  });

  it.for([42, 'done', true, {}, { outcome: 'done' }, [], Symbol('s')])(
    'that returns %o, which no helper made, has failed: it may have meant a failure',
    async (value) => {
      const { row, stats, source } = await once(() => value as never, { errorColumn: 'error' });
      expect(row).toMatchObject({ state: 'live', set: { error: expect.stringContaining('the handler returned') } });
      expect(stats.failed).toBe(1);
      expect(source.logger.lines).toHaveLength(1);
    },
  );

  it('is buried at once when its last attempt has failed, and not only by the next claim', async () => {
    const source = new ScriptedSource();
    source.insert(1, { attempts: 2 });
    start(() => Promise.reject(new Error('boom')), { errorColumn: 'error' }, source);
    await source.clock.advance(10);
    expect(source.row(1)).toMatchObject({
      state: 'dead',
      attempts: 3,
      set: { error: 'Error: boom', reason: 'attempts used up: Error: boom' },
    });
  });

  it('is buried too when its handler asks for another attempt and there is none left', async () => {
    const source = new ScriptedSource();
    source.insert(1, { attempts: 2 });
    start(() => retryIn('1m', { note: 'later' }), {}, source);
    await source.clock.advance(10);
    expect(source.row(1)).toMatchObject({ state: 'dead', set: { note: 'later', reason: 'attempts used up' } });
  });

  it('is retried for ever where the table counts no attempts', async () => {
    const source = Object.assign(new ScriptedSource(), { attempts: null });
    source.insert(1);
    const seen: unknown[] = [];
    start((_row, job) => (seen.push(job.attempt), Promise.reject(new Error('x'))), { backoff: () => 1_000 }, source);
    await source.clock.advance(10_000);
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen)).toEqual(new Set([null]));
  });
});

describe('a handler that finishes its row in a transaction of its own', () => {
  const client = { query: () => Promise.resolve({ rows: [] }) };

  it('is left alone by the worker', async () => {
    const { row, source, stats } = await once(async (_row, job) => void (await job.finalize(client, { paid: true })));
    expect(row).toMatchObject({ state: 'done', set: { paid: true } });
    expect([source.calls.settle.length, stats.failed, source.open.size]).toEqual([0, 0, 0]);
  });

  it('is counted and told of as any other', async () => {
    const told: unknown[] = [];
    const hear = (message: unknown): void => void told.push(message);
    subscribe('leasehold:work.settled', hear);
    onTestFinished(() => void unsubscribe('leasehold:work.settled', hear));
    const { stats } = await once(async (_row, job) => void (await job.finalize(client)));
    expect([stats.done, stats.lost]).toEqual([1, 0]);
    expect(told).toMatchObject([{ row: { id: 1 }, outcome: 'done', fate: 'done' }]);
  });

  it('is counted as lost where it was, and is told so instead of an error', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    const handler: Handler = async (_row, job) => {
      source.steal(1);
      await job.finalize(client, {}, { onLost: 'tell' });
    };
    const { worker } = start(handler, {}, source);
    await source.clock.advance(10);
    expect([worker.stats().done, worker.stats().lost]).toEqual([0, 1]);
  });

  it('is told when the row is lost, so that it rolls back', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    const errors: unknown[] = [];
    const started = start(
      async (_row, job) => {
        source.steal(1);
        await job.finalize(client).catch((error: unknown) => errors.push(error));
        throw new Error('rolled back');
      },
      {},
      source,
    );
    await source.clock.advance(10);
    expect(errors).toMatchObject([{ code: 'LEASEHOLD_ROW_LOST' }]);
    expect([source.row(1).token, started.worker.stats().lost]).toEqual(['another', 1]);
  });

  it('and then throws, as its commit failed, has its row tried again', async () => {
    const { row } = await once(
      async (_row, job) => {
        await job.finalize(client);
        throw Object.assign(new Error('could not commit'), { rollBack: job.claimId });
      },
      {
        backoff: (_attempt: number, error: { rollBack: string }, { id }: { id: number }) => {
          Object.assign(scripted.row(id), { state: 'live', token: error.rollBack });
          return 9_000;
        },
      },
    );
    expect(row).toMatchObject({ state: 'live', due: 9_000 });
  });

  it('and returns an outcome as well, has the first one count', async () => {
    const { row, source } = await once(async (_row, job) => {
      await job.finalize(client);
      return retryIn('1m');
    });
    expect(row.state).toBe('done');
    expect(source.logger.lines.map(({ text }) => text)).toEqual([
      'a handler finished its row itself, and returned an outcome too: the first one counts',
    ]);
  });
});

describe('one bad row', () => {
  it('does not keep the others from being done', async () => {
    const source = new ScriptedSource();
    source.insert(200);
    const started = start((row) => (row.id % 7 === 0 ? Promise.reject(new Error('bad')) : undefined), { concurrency: 3 }, source);
    await source.clock.advance(100_000);
    const states = [...source.rows.values()].map(({ id, state }) => (id % 7 === 0 ? state === 'dead' : state === 'done'));
    expect(states.every(Boolean)).toBe(true);
    await stop(started);
  });
});

describe('a worker', () => {
  it('runs so many handlers at once and no more', async () => {
    const source = new ScriptedSource();
    source.insert(20);
    const { handler, held } = heldHandler();
    const { worker } = start(handler, { concurrency: 4 }, source);
    await source.clock.advance(0);
    expect([held.length, worker.stats().running]).toEqual([4, 4]);
    held[0]?.finish();
    await source.clock.advance(0);
    expect(held).toHaveLength(5);
  });
});
