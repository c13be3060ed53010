import type { Leasehold } from '@leasehold/core';
import { type ActorHome, actorHome, type AnyActors } from '@leasehold/core/actors';
import { describe, expect, it } from 'vitest';
import { Fleet, type Instance, randomOf } from '../support/fleet.ts';

const SHARDS = 16;
const KEYS = Array.from({ length: 64 }, (_, n) => `order-${n}`);

interface Turn {
  readonly instance: string;
  readonly role: string;
  readonly token: bigint;
  readonly key: string;
}

interface Host {
  readonly instance: Instance;
  readonly home: ActorHome<AnyActors>;
}

/** Instances with a fair home of 16 shards each, and every turn that ever ran on any of them. */
class Homes {
  readonly fleet: Fleet;
  readonly hosts: Host[] = [];
  readonly turns: Turn[] = [];
  readonly #running = new Map<string, Turn>();
  /** Ends the turns that wait. */
  readonly ends: (() => void)[] = [];

  constructor(seed?: number) {
    this.fleet = new Fleet(seed);
  }

  join(): Host {
    let home: ActorHome<AnyActors> | undefined;
    const instance = this.fleet.join({ count: 1 });
    home = this.#home(instance.leasehold);
    const host = { instance, home };
    this.hosts.push(host);
    return host;
  }

  #home(leasehold: Leasehold): ActorHome<AnyActors> {
    const home = actorHome(leasehold, { shards: SHARDS, balance: 'fair' });
    home.actor('Order', {
      handle: async (message, { key, term, signal }) => {
        const turn = { instance: leasehold.instance.id, role: term.role, token: term.fencingToken, key };
        const before = this.#running.get(key);
        // A turn that believes to be the only one: the other may still run, but knows by its signal that its time is over.
        if (before !== undefined) throw new Error(`two turns of ${key}: ${before.instance} and ${turn.instance}`);
        this.turns.push(turn);
        this.#running.set(key, turn);
        const leave = (): void => void (this.#running.get(key) === turn && this.#running.delete(key));
        signal.addEventListener('abort', leave, { once: true });
        if (message === 'wait') await new Promise<void>((resolve) => this.ends.push(resolve));
        leave();
        return turn.instance;
      },
    });
    return home;
  }

  /** Sends a message for each key to each instance; the ids of those that took it. */
  async send(keys: readonly string[], message = 'now'): Promise<(string | undefined)[]> {
    return Promise.all(
      keys.map(async (key) => {
        const asked = this.hosts.map(({ home }) => home.ask('Order', key, message));
        const answers = await Promise.allSettled(asked);
        const taken = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value as string);
        const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
        for (const error of failed) expect(error).toMatchObject({ code: 'LEASEHOLD_NOT_HOME' });
        expect(taken.length, `homes of ${key}`).toBeLessThanOrEqual(1);
        return taken[0];
      }),
    );
  }
}

describe('a home of shards', () => {
  it('takes each message on one instance: the owner of the role of the actor and the key', async () => {
    const homes = new Homes();
    for (let n = 0; n < 3; n += 1) homes.join();
    await homes.fleet.clock.advance(60_000);
    const takers = await homes.send(KEYS);
    for (const [n, key] of KEYS.entries()) {
      const owner = homes.hosts.find(({ instance }) => instance.leasehold.getPartition('actors').isHeld('Order', key));
      expect(takers[n]).toBe(owner?.instance.id);
    }
    expect(new Set(takers).size).toBe(3);
    const turn = homes.turns.find(({ key }) => key === 'order-7');
    expect(turn?.role).toBe(homes.hosts[0]?.instance.leasehold.getPartition('actors').resolve('Order', 'order-7').role);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'never runs turns of a key on two homes that both believe, whoever comes, goes, freezes and hangs (seed %d)',
    async (seed) => {
      const random = randomOf(seed);
      const homes = new Homes(seed);
      const { fleet } = homes;
      homes.join();
      await fleet.clock.advance(1_000);
      for (let change = 0; change < 60; change += 1) {
        const victim = homes.hosts[Math.floor(random() * homes.hosts.length)];
        const dice = random();
        if (dice < 0.15 && homes.hosts.length < 4) homes.join();
        else if (dice < 0.3) victim?.instance.cutOff(random() < 0.6);
        else if (dice < 0.4) void victim?.instance.leasehold.standAside({ for: '20s' });
        else if (dice < 0.5) for (const end of homes.ends.splice(0)) end();
        const some = KEYS.filter(() => random() < 0.2);
        // Not waited for: these may hang.
        for (const { home } of homes.hosts)
          for (const key of some.slice(0, 3))
            void home
              .ask('Order', key, 'wait')
              .catch((error: unknown) => expect(error).toMatchObject({ code: 'LEASEHOLD_NOT_HOME' }));
        for (let passed = 0; passed < 8; passed += 1) await fleet.clock.advance(random() * 1_000);
      }
      for (const { instance } of homes.hosts) instance.cutOff(false);
      for (let end = 0; end < 40; end += 1) {
        for (const done of homes.ends.splice(0)) done();
        await fleet.clock.advance(5_000);
      }
      // A later turn of a key has no lower token: the fence of the earlier one refuses.
      for (const key of KEYS) {
        const tokens = homes.turns.filter((turn) => turn.key === key).map(({ token }) => token);
        expect(tokens).toEqual(tokens.toSorted((a, b) => Number(a - b)));
      }
      expect(homes.turns.length).toBeGreaterThan(20);
      const takers = await homes.send(KEYS);
      expect(takers.every((taker) => taker !== undefined)).toBe(true);
    },
  );
});
