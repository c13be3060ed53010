import { describe, expect, it } from 'vitest';
import { copy, passes } from '../support/actor-copy.ts';

describe('losing the home', () => {
  it('gracefully waits for the turn that runs, aborts its signal, and refuses what waits with the reason', async () => {
    const { leasehold, home, clock, signals, log } = await copy();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = home.ask('Slow', '1', promise);
    await passes();
    const waiting = home.ask('Slow', '1', promise);
    home.tell('Order', '2', 'x');
    home.tell('Slow', '1', promise);
    let outcome: unknown;
    void leasehold
      .get('actors')
      .stepDown()
      .then((told) => (outcome = told));
    expect(signals[0]?.reason).toMatchObject({ code: 'LEASEHOLD_TERM_STEPPED_DOWN' });
    await expect(waiting).rejects.toMatchObject({
      code: 'LEASEHOLD_NOT_HOME',
      cause: expect.objectContaining({ code: 'LEASEHOLD_TERM_STEPPED_DOWN' }),
    });
    await clock.advance(5_000);
    expect(outcome, 'the turn still runs').toBeUndefined();
    resolve('done');
    expect(await running).toBe('done');
    await clock.advance(0);
    expect(outcome).toBe('released');
    expect(log.lines.filter(({ text }) => text.includes('dropped'))).toHaveLength(2);
  });

  it('does not wait for a turn for longer than the drain timeout', async () => {
    const { leasehold, home, clock } = await copy();
    home.tell('Slow', '1', new Promise<string>(() => {}));
    await passes();
    let outcome: unknown;
    void leasehold
      .get('actors')
      .stepDown()
      .then((told) => (outcome = told));
    await clock.advance(8_000);
    await clock.advance(0);
    expect(outcome).toBe('not-drained');
  });

  it('by a freeze is noticed before the next turn begins, without any timer', async () => {
    const { home, clock, turns, signals } = await copy();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = home.ask('Slow', '1', promise);
    await passes();
    const waiting = home.ask('Slow', '1', promise);
    const elsewhere = home.ask('Order', '2', 'x');
    clock.jump(13_000);
    await expect(elsewhere).rejects.toMatchObject({
      code: 'LEASEHOLD_NOT_HOME',
      cause: expect.objectContaining({ code: 'LEASEHOLD_TERM_EXPIRED' }),
    });
    await expect(waiting).rejects.toMatchObject({ code: 'LEASEHOLD_NOT_HOME' });
    expect(signals[0]?.aborted).toBe(true);
    resolve('late');
    expect(await running).toBe('late');
    expect(turns).toEqual(['1:slow']);
  });

  it('and winning it again: the key waits for the old turn, and what waited before is not run under the new term', async () => {
    const { leasehold, home, clock, turns } = await copy();
    const { promise, resolve } = Promise.withResolvers<string>();
    // A listener before ours that stops the event, so that what waits is not refused by it.
    void leasehold
      .get('actors')
      .whileHeld(({ signal }) => signal.addEventListener('abort', (event) => event.stopImmediatePropagation()));
    const running = home.ask('Slow', '1', promise);
    await passes();
    const old = home.ask('Order', '1', 'old');
    const oldSlow = home.ask('Slow', '1', Promise.resolve('old'));
    await old;
    const before = leasehold.get('actors').fencingToken;
    void leasehold.get('actors').stepDown({ standAside: 0 });
    expect(() => home.tell('Order', '1', 'x')).toThrow(expect.objectContaining({ code: 'LEASEHOLD_NOT_HOME' }));
    await clock.advance(16_000);
    await clock.advance(30_000);
    const now = leasehold.get('actors').fencingToken;
    expect(now).toBeGreaterThan(before ?? 0n);
    const fresh = home.ask('Slow', '1', Promise.resolve('new'));
    await passes();
    expect(
      turns.filter((turn) => turn === '1:slow'),
      'the old turn still runs',
    ).toHaveLength(1);
    resolve('done');
    expect(await running).toBe('done');
    await expect(oldSlow).rejects.toMatchObject({ code: 'LEASEHOLD_NOT_HOME' });
    expect(await fresh).toBe('new');
  });
});
