import { heldRoles } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { testLeasehold } from '../../../testing/src/test-leasehold.ts';
import { ScriptedSource } from './support/scripted-source.ts';
import { heldHandler, start, stop } from './support/start.ts';

const claimsOf = (source: ScriptedSource): number => source.calls.claim.length;
const textsOf = (source: ScriptedSource): string[] => source.logger.lines.map(({ text }) => text);
const hang = (): Promise<never> => new Promise(() => {});

describe('a worker with nothing to do', () => {
  it('asks ever less often, down to every half minute, and soon again after it found something', async () => {
    const source = new ScriptedSource();
    const times: number[] = [];
    source.faults.claim = () => void times.push(source.clock.monotonic());
    start(() => {}, {}, source);
    await source.clock.advance(120_000);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    source.insert(1);
    await source.clock.advance(1_750);
    const before = times.length;
    await source.clock.advance(1_000);
    expect(times.length - before).toBe(2);
  });

  it('spreads what it asks by chance, so that a fleet does not ask in step', async () => {
    const source = new ScriptedSource();
    start(() => {}, { random: () => 0.8, minIdle: '10s', maxIdle: '10s' }, source);
    await source.clock.advance(8_000);
    expect(claimsOf(source)).toBe(2);
  });

  it('sleeps until the next row is due, and not past it', async () => {
    const source = new ScriptedSource();
    source.insert(1, { due: 40_123 });
    const at: number[] = [];
    start(() => void at.push(source.clock.monotonic()), {}, source);
    await source.clock.advance(45_000);
    expect(at).toEqual([40_123]);
  });

  it('asks no database when the next row is due while the pause is short anyway', async () => {
    const source = new ScriptedSource();
    start(() => {}, { minIdle: '500ms', maxIdle: '900ms' }, source);
    await source.clock.advance(20_000);
    expect(source.calls.nextDue).toEqual([]);
  });

  it('knows of the rows that it retries itself', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    const at: number[] = [];
    source.faults.nextDue = () => Promise.reject(new Error('cannot tell'));
    start(
      () => (at.push(source.clock.monotonic()), Promise.reject(new Error('x'))),
      { minIdle: '30s', backoff: () => '5s' },
      source,
    );
    await source.clock.advance(10_000);
    expect(at).toEqual([0, 5_000, 10_000]);
    expect(textsOf(source).every((text) => text.startsWith('a handler failed'))).toBe(true);
  });

  it('looks at once for the rows of a role that comes here', async () => {
    const { leasehold, hold } = testLeasehold({ roles: ['mail', 'hooks'] });
    await leasehold.start();
    const source = new ScriptedSource();
    const started = start(() => {}, { where: heldRoles(leasehold, 'role') }, source);
    await source.clock.advance(60_000);
    const before = claimsOf(source);
    await hold('mail');
    await source.clock.advance(1);
    expect(claimsOf(source) - before).toBe(1);
    expect(source.options.at(-1)?.where).toMatchObject({ values: [['mail']] });
    await hold('hooks');
    await source.clock.advance(1);
    expect(source.options.at(-1)?.where).toMatchObject({ values: [['mail', 'hooks']] });
    await stop(started);
    await leasehold.stop();
  });

  it('is woken by a hint, many of which are one, and ends the subscription with the stop', async () => {
    const source = new ScriptedSource();
    let notify = (): void => {};
    let subscriptions = 0;
    const wakeUp = (tell: () => void) => {
      subscriptions += 1;
      notify = tell;
      return () => void (subscriptions -= 1);
    };
    const started = start(() => {}, { wakeUp, random: () => 0.5 }, source);
    await source.clock.advance(60_000);
    const before = claimsOf(source);
    source.insert(1);
    for (let hints = 0; hints < 1_000; hints += 1) notify();
    await source.clock.advance(26);
    expect([claimsOf(source) - before, source.row(1).state]).toEqual([1, 'done']);
    expect(subscriptions).toBe(1);
    await stop(started);
    expect(subscriptions).toBe(0);
    notify();
  });

  it('hears the hint that comes while it claims', async () => {
    const source = new ScriptedSource();
    let notify = (): void => {};
    let answer = (): void => {};
    source.faults.claim = () => new Promise<void>((resolve) => (answer = resolve));
    start(() => {}, { wakeUp: (tell) => ((notify = tell), undefined) }, source);
    await source.clock.advance(0);
    notify();
    answer();
    await source.clock.advance(0);
    expect(claimsOf(source)).toBe(2);
  });

  it('goes on by asking when its hint fails', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    const wakeUp = () => {
      throw new Error('no LISTEN behind this pooler');
    };
    start(() => {}, { wakeUp }, source);
    await source.clock.advance(10);
    expect([source.row(1).state, textsOf(source)]).toEqual(['done', ['the wake-up hint failed; new rows are found by asking']]);
  });
});

describe('a worker with much to do', () => {
  it('claims again at once when a claim came back full', async () => {
    const source = new ScriptedSource();
    source.insert(1_000);
    const { worker } = start(() => {}, { concurrency: 10, prefetch: 0 }, source);
    await source.clock.advance(100);
    expect(worker.stats()).toMatchObject({ done: 1_000, emptyClaims: 1 });
  });

  it('asks nothing of the database while all its slots are taken', async () => {
    const source = new ScriptedSource();
    source.insert(10);
    const { handler, held } = heldHandler();
    start(handler, { concurrency: 2, timeout: 'none' }, source);
    await source.clock.advance(600_000);
    expect([claimsOf(source), source.calls.nextDue.length]).toEqual([1, 0]);
    held[0]?.finish();
    await source.clock.advance(10);
    expect([claimsOf(source), held.length]).toEqual([2, 3]);
  });

  it('has one claim at a time, however many handlers it has', async () => {
    const source = new ScriptedSource();
    source.insert(500);
    let underWay = 0;
    let most = 0;
    source.faults.claim = async () => {
      most = Math.max(most, (underWay += 1));
      await new Promise<void>((resolve) => source.clock.setTimer(resolve, 3));
      underWay -= 1;
    };
    start(() => {}, { concurrency: 100 }, source);
    await source.clock.advance(5_000);
    expect([most, [...source.rows.values()].every(({ state }) => state === 'done')]).toEqual([1, true]);
  });
});

describe('a database that is away', () => {
  it('is told once, asked ever less often, and taken up again by itself', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    source.faults.claim = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const { worker } = start(() => {}, {}, source);
    await source.clock.advance(600_000);
    expect(claimsOf(source)).toBeGreaterThan(20);
    expect(claimsOf(source)).toBeLessThan(60);
    expect(textsOf(source)).toEqual(['no rows can be claimed; trying again until they can']);
    source.faults = {};
    await source.clock.advance(30_000);
    expect([worker.stats().done, textsOf(source).slice(1)]).toEqual([1, ['rows can be claimed again']]);
  });

  it('and never answers is given up by the end of the lease, and what it gives then is handed back', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    let answer = (): void => {};
    source.faults.claim = ({ nth }) => (nth === 1 ? new Promise<void>((resolve) => (answer = resolve)) : undefined);
    const ids: number[] = [];
    start((row) => void ids.push(row.id), { lease: '20s' }, source);
    await source.clock.advance(19_999);
    expect(claimsOf(source)).toBe(1);
    await source.clock.advance(200);
    expect([claimsOf(source), ids]).toEqual([2, [1]]);
    source.insert(1);
    answer();
    await source.clock.advance(0);
    expect(source.row(2)).toMatchObject({ attempts: 0, token: null });
  });

  it('does not hold the loop up when it cannot tell what is due next', async () => {
    const source = new ScriptedSource();
    source.faults.nextDue = hang;
    start(() => {}, { lease: '10s' }, source);
    await source.clock.advance(100_000);
    expect(claimsOf(source)).toBeGreaterThan(6);
  });

  it('is no reason to stop for a `where` that throws', async () => {
    const source = new ScriptedSource();
    source.insert(1);
    let broken = true;
    const where = () => {
      if (broken) throw new Error('not ready');
      return undefined as never;
    };
    start(() => {}, { where }, source);
    await source.clock.advance(1_000);
    broken = false;
    await source.clock.advance(5_000);
    expect(source.row(1).state).toBe('done');
  });
});
