import { AsyncLocalStorage } from 'node:async_hooks';
import { createLeasehold, type Leasehold, type LeaseholdOptions } from '@leasehold/core';
import { type ActorHome, actorHome, type ActorHomeOptions, type AnyActors } from '@leasehold/core/actors';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ManualClock, manualClock } from '../../../testing/src/manual-clock.ts';
import { spyLogger, type SpyLogger } from '../support/spy-logger.ts';

interface Actors {
  Order: (message: string) => string;
  Slow: (message: Promise<string>) => string;
}

interface Copy {
  readonly leasehold: Leasehold;
  readonly home: ActorHome<Actors>;
  readonly clock: ManualClock;
  readonly log: SpyLogger;
  /** Every turn that began, in order. */
  readonly turns: string[];
  readonly signals: AbortSignal[];
}

interface CopyOptions extends LeaseholdOptions {
  readonly database?: MemoryDatabase;
  readonly clock?: ManualClock;
  readonly home?: ActorHomeOptions;
  readonly mailbox?: number;
}

/** The home, for actors that a test makes up. */
type Any = ActorHome<AnyActors>;

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

/** An application with an actor that answers what it is told, and one that waits for it. Started, and at home if it is the first. */
async function copy({
  database,
  clock = manualClock(),
  home: homeOptions,
  mailbox = 1_000,
  ...options
}: CopyOptions = {}): Promise<Copy> {
  const log = spyLogger();
  const leasehold = createLeasehold({
    store: memoryStore({ database: database ?? new MemoryDatabase({ clock }) }),
    clock,
    logger: log,
    startup: 'background',
    ...options,
  });
  const home = actorHome<Actors>(leasehold, homeOptions);
  const turns: string[] = [];
  const signals: AbortSignal[] = [];
  home.actor('Order', { mailbox, handle: (message, { key }) => (turns.push(`${key}:${message}`), message) });
  home.actor('Slow', {
    mailbox,
    handle: (message, { key, signal }) => {
      turns.push(`${key}:slow`);
      signals.push(signal);
      return message;
    },
  });
  await leasehold.start();
  await clock.advance(0);
  await clock.advance(0);
  onTestFinished(async () => {
    const stopped = leasehold.stop();
    await clock.advance(60_000);
    await stopped;
  });
  return { leasehold, home, clock, log, turns, signals };
}

/** Long enough for every turn that could begin. */
async function passes(count = 20): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('messages', () => {
  it('of one key have their turns one at a time, in the order in which they came', async () => {
    const { home, turns } = await copy();
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = home.ask('Slow', '1', promise);
    const second = home.ask('Slow', '1', Promise.resolve('second'));
    await passes();
    expect(turns).toEqual(['1:slow']);
    resolve('first');
    expect(await Promise.all([slow, second])).toEqual(['first', 'second']);
    expect(turns).toEqual(['1:slow', '1:slow']);
    const all = Array.from({ length: 100 }, (_, n) => String(n));
    for (const message of all.slice(0, 50)) home.tell('Order', '1', message);
    expect(await Promise.all(all.slice(50).map((message) => home.ask('Order', '1', message)))).toEqual(all.slice(50));
    expect(turns.slice(2)).toEqual(all.map((message) => `1:${message}`));
  });

  it('of many keys take turns: a key with a thousand messages holds up no other, nor the event loop', async () => {
    const { home, turns } = await copy();
    for (let n = 0; n < 1_000; n += 1) home.tell('Order', 'busy', 'x');
    await home.ask('Order', 'quiet', 'y');
    expect(turns.length).toBeLessThan(5);
    const before = turns.length;
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(turns.length - before, 'turns before a timer of no time').toBeLessThan(900);
    await expect.poll(() => turns.length).toBe(1_001);
  });

  it('of one key and two actors have nothing to do with each other', async () => {
    const { home } = await copy();
    const never = home.ask('Slow', '1', new Promise(() => {}));
    never.catch(() => {});
    expect(await home.ask('Order', '1', 'a')).toBe('a');
  });

  it('run in what the sender ran in, not in what ran before them', async () => {
    const request = new AsyncLocalStorage<string>();
    const { home } = await copy();
    const seen: unknown[] = [];
    const any = home as unknown as Any;
    any.actor('Context', { handle: () => void seen.push(request.getStore()) });
    request.run('a', () => any.tell('Context', '1', null));
    request.run('b', () => any.tell('Context', '1', null));
    await any.ask('Context', '1', null);
    expect(seen).toEqual(['a', 'b', undefined]);
  });
});

describe('a handler', () => {
  it('that throws: ask rejects with it, tell logs it, and the next message runs', async () => {
    const { leasehold, log, ...copied } = await copy();
    expect(leasehold.leases.heldRoles()).toEqual(['actors']);
    const home = copied.home as unknown as Any;
    const failure = new Error('no such order');
    home.actor('Failing', {
      handle(message) {
        if (message === 'sync') throw failure;
        return message === 'async' ? Promise.reject(failure) : message;
      },
    });
    home.tell('Failing', '1', 'sync');
    home.tell('Failing', '1', 'async');
    await expect(home.ask('Failing', '1', 'sync')).rejects.toBe(failure);
    await expect(home.ask('Failing', '1', 'async')).rejects.toBe(failure);
    expect(await home.ask('Failing', '1', 'fine')).toBe('fine');
    const errors = log.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ fields }) => fields)).toEqual([
      { err: failure, actor: 'Failing', key: '"1"' },
      { err: failure, actor: 'Failing', key: '"1"' },
    ]);
  });

  it('that never ends blocks its key until the mailbox is full, and no other key', async () => {
    const { home } = await copy({ mailbox: 3 });
    const never = new Promise<string>(() => {});
    home.tell('Slow', '1', never);
    await passes();
    for (let n = 0; n < 3; n += 1) home.tell('Slow', '1', never);
    expect(() => home.tell('Slow', '1', never)).toThrow(code('LEASEHOLD_MAILBOX_FULL'));
    await expect(home.ask('Slow', '1', never)).rejects.toMatchObject({ code: 'LEASEHOLD_MAILBOX_FULL', option: 'mailbox' });
    expect(await home.ask('Slow', '2', Promise.resolve('b'))).toBe('b');
  });

  it('is called as a method of its options', async () => {
    const { home } = await copy();
    const any = home as unknown as Any;
    class Counter {
      readonly mailbox: number = 10;
      handle(message: unknown): unknown {
        return [this.mailbox, message];
      }
    }
    any.actor('Counter', new Counter());
    expect(await any.ask('Counter', '1', 'x')).toEqual([10, 'x']);
  });
});

describe('an instance that is not the home', () => {
  it('refuses at once, and names the holder and its address', async () => {
    const clock = manualClock();
    const database = new MemoryDatabase({ clock });
    const holder = await copy({ clock, database, instance: { label: 'h', address: 'http://h.test:80' } });
    const { home, turns } = await copy({ clock, database, instance: { label: 'o' } });
    const there = { code: 'LEASEHOLD_NOT_HOME', role: 'actors', holder: holder.leasehold.instance.id, address: 'http://h.test' };
    expect(() => home.tell('Order', '1', 'x')).toThrow(expect.objectContaining(there));
    await expect(home.ask('Order', '1', 'x')).rejects.toMatchObject(there);
    await expect(home.ask('Order', '1', 'x')).rejects.toThrow(`held by ${there.holder}, at http://h.test`);
    await passes();
    expect(turns).toEqual([]);
    expect(await holder.home.ask('Order', '1', 'x')).toBe('x');
  });

  it('says that nobody is known, before start and where nobody is', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const home = actorHome(leasehold);
    home.actor('Order', { handle: () => 1 });
    expect(() => home.tell('Order', '1', 'x')).toThrow(
      expect.objectContaining({
        code: 'LEASEHOLD_NOT_HOME',
        holder: null,
        address: null,
        message: expect.stringContaining('start()'),
      }),
    );
  });

  it('refuses after stop, and says so', async () => {
    const { leasehold, home, clock } = await copy();
    const stopped = leasehold.stop();
    await expect(home.ask('Order', '1', 'x')).rejects.toThrow('this instance is stopping');
    await clock.advance(0);
    await stopped;
    await expect(home.ask('Order', '1', 'x')).rejects.toMatchObject({ code: 'LEASEHOLD_NOT_HOME', holder: null });
  });
});

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

describe('asking in a circle', () => {
  async function anyHome(): Promise<Any> {
    return (await copy()).home as unknown as Any;
  }

  it('is refused: of oneself, and through others', async () => {
    const home = await anyHome();
    home.actor('Self', { handle: (message, { key }) => home.ask('Self', key, message) });
    home.actor('A', { handle: (message) => home.ask('B', '1', message) });
    home.actor('B', { handle: (message) => home.ask('C', '1', message) });
    home.actor('C', { handle: (message) => home.ask('A', '1', message) });
    await expect(home.ask('Self', '1', 'x')).rejects.toMatchObject({ code: 'LEASEHOLD_ACTOR_DEADLOCK' });
    await expect(home.ask('A', '1', 'x')).rejects.toMatchObject({ code: 'LEASEHOLD_ACTOR_DEADLOCK' });
  });

  it('is refused where two turns that began by themselves ask each other', async () => {
    const home = await anyHome();
    const both = Promise.withResolvers<void>();
    let began = 0;
    const cross = (other: string) => async (message: unknown) => {
      began += 1;
      if (began === 2) both.resolve();
      await both.promise;
      return message === 'first' ? home.ask(other, '1', 'second') : 'answered';
    };
    home.actor('A', { handle: cross('B') });
    home.actor('B', { handle: cross('A') });
    const results = await Promise.allSettled([home.ask('A', '1', 'first'), home.ask('B', '1', 'first')]);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toEqual(expect.arrayContaining([{ status: 'rejected', reason: code('LEASEHOLD_ACTOR_DEADLOCK') }]));
  });

  it('is none: telling oneself, asking another key, and what a turn left behind', async () => {
    const home = await anyHome();
    const seen: unknown[] = [];
    let later: Promise<unknown> | undefined;
    home.actor('Self', {
      async handle(message, { key }) {
        seen.push(message);
        if (message === 'tell') home.tell('Self', key, 'told');
        if (message === 'other') return home.ask('Self', '2', 'asked');
        if (message === 'later')
          later = new Promise((resolve) => setImmediate(resolve)).then(passesThen(() => home.ask('Self', key, 'late')));
        return message;
      },
    });
    await home.ask('Self', '1', 'tell');
    expect(await home.ask('Self', '1', 'other')).toBe('asked');
    await home.ask('Self', '1', 'later');
    expect(await later).toBe('late');
    expect(seen).toEqual(['tell', 'told', 'other', 'asked', 'later', 'late']);
  });

  function passesThen<T>(then: () => Promise<T>): () => Promise<T> {
    return async () => {
      await passes();
      return then();
    };
  }
});
