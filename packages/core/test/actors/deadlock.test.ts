import { describe, expect, it } from 'vitest';
import { type Any, copy, passes } from '../support/actor-copy.ts';

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

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

  it('is none once the turn is over, although messages of its key wait', async () => {
    const home = await anyHome();
    let late: Promise<unknown> | undefined;
    const leaveBehind = async (key: string): Promise<unknown> => {
      // Longer than the turn takes to end, and shorter than a pass of the event loop.
      for (let n = 0; n < 100; n += 1) await Promise.resolve();
      return home.ask('Self', key, 'late');
    };
    home.actor('Self', {
      handle: (message, { key }) => {
        if (message === 'first') late = leaveBehind(key);
        return message;
      },
    });
    home.tell('Self', '1', 'first');
    await home.ask('Self', '1', 'second');
    expect(await late).toBe('late');
  });

  it('is none once the answer has come, although the turn that asked still runs', async () => {
    const home = await anyHome();
    const asking = Promise.withResolvers<void>();
    const { promise: end, resolve } = Promise.withResolvers<void>();
    home.actor('A', {
      handle: async (message) => {
        if (message === 'second') return 'second';
        const answer = home.ask('B', '1', 'answer');
        asking.resolve();
        expect(await answer).toBe('answer');
        await end;
        return message;
      },
    });
    home.actor('B', { handle: (message) => (message === 'ask A' ? home.ask('A', '1', 'second') : message) });
    home.tell('A', '1', 'first');
    await asking.promise;
    // Waits behind the other, so that both are of one mailbox.
    const asked = home.ask('B', '1', 'ask A');
    await passes();
    resolve();
    expect(await asked).toBe('second');
  });

  function passesThen<T>(then: () => Promise<T>): () => Promise<T> {
    return async () => {
      await passes();
      return then();
    };
  }
});
