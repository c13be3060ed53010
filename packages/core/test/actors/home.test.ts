import { AsyncLocalStorage } from 'node:async_hooks';
import { createLeasehold } from '@leasehold/core';
import { actorHome } from '@leasehold/core/actors';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { type Any, copy, passes } from '../support/actor-copy.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

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
