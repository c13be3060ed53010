import type { Leasehold, Term } from '@leasehold/core';
import { type ActorHome, actorHome, type AnyActors } from '@leasehold/core/actors';
import { describe, expectTypeOf, test } from 'vitest';

declare const leasehold: Leasehold;

interface OrderState {
  readonly total: number;
}

interface Actors {
  Order: (message: { readonly add: number }) => OrderState;
  Mail: (message: string) => Promise<void>;
}

describe('a home whose actors are described', () => {
  const home = actorHome<Actors>(leasehold, { shards: 16, balance: 'fair', leaseDuration: '15s' });

  test('gives handlers their messages, and asks for their answers', () => {
    expectTypeOf(home).toEqualTypeOf<ActorHome<Actors>>();
    home.actor('Order', {
      handle(message, { key, term, signal }) {
        expectTypeOf(message).toEqualTypeOf<{ readonly add: number }>();
        expectTypeOf(key).toBeString();
        expectTypeOf(term).toEqualTypeOf<Term>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return { total: message.add };
      },
    });
    home.actor('Mail', { mailbox: 10, handle: async () => {} });
    // @ts-expect-error that is no OrderState
    home.actor('Order', { handle: () => 7 });
    // @ts-expect-error there is no such actor
    home.actor('Orders', { handle: () => 7 });
    // @ts-expect-error nothing to handle with
    home.actor('Mail', { mailbox: 10 });
  });

  test('takes only messages of the actor, and knows the answer', () => {
    expectTypeOf(home.ask('Order', '7', { add: 1 })).resolves.toEqualTypeOf<OrderState>();
    expectTypeOf(home.ask('Mail', '7', 'hello')).resolves.toBeVoid();
    expectTypeOf(home.tell('Mail', '7', 'hello')).toBeVoid();
    // @ts-expect-error a message of another actor
    void home.ask('Order', '7', 'hello');
    // @ts-expect-error there is no such actor
    home.tell('Orders', '7', 'hello');
    // @ts-expect-error a key is a string
    home.tell('Mail', 7, 'hello');
    const order: { readonly id?: string } = {};
    // @ts-expect-error a key that may be missing is none
    home.tell('Mail', order.id, 'hello');
  });
});

describe('a home', () => {
  test('without a description takes any name and message, and knows no answer', () => {
    const home = actorHome(leasehold);
    expectTypeOf(home).toEqualTypeOf<ActorHome<AnyActors>>();
    home.actor('Order', { handle: (message: { readonly add: number }) => message.add });
    expectTypeOf(home.ask('Order', '7', { add: 1 })).resolves.toBeUnknown();
  });

  test('needs a Leasehold, or nothing at all', () => {
    expectTypeOf(actorHome<Actors>()).toEqualTypeOf<ActorHome<Actors>>();
    const app: { readonly leasehold?: Leasehold } = {};
    // @ts-expect-error one that may be missing is none
    actorHome(app.leasehold);
    // @ts-expect-error there is no such balance
    actorHome(leasehold, { shards: 16, balance: 'even' });
    // @ts-expect-error an actor takes a message and answers
    actorHome<{ Order: string }>(leasehold);
  });
});
