import type { Logger } from '../logger.ts';
import type { RoleOptions } from '../lease/lease-options.ts';
import type { ActorName, ActorOptions, AnswerOf, MessageOf } from './actor.ts';

/** Options of the role or the partition are those of each of its roles. */
export interface ActorHomeOptions extends RoleOptions {
  /**
   * Spreads the keys over so many homes, the roles of the partition `actors`: 1 to 4,096.
   *
   * *Gotcha:* the same on every instance, for good, as the count of any partition; one home and shards are not the same either.
   *
   * @default one home: the role `actors`
   */
  readonly shards?: number;
  /** How the shards are spread over the instances: `balance` of a partition. @default 'off' */
  readonly balance?: 'off' | 'fair';
  /** What handlers of `tell` throw is logged here. @default that of the Leasehold */
  readonly logger?: Logger;
}

/**
 * Where actors live: on the holder of a role. A message runs its handler there, one at a time for each key, in the order in
 * which they came. Anywhere else it is refused, with the holder's name and address; nothing is ever forwarded, stored or
 * sent again.
 */
export interface ActorHome<Protocols> {
  /**
   * Says what handles the messages to the actors of this name. On every instance: any may become the home.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_DUPLICATE_ACTOR
   */
  actor<Name extends ActorName<Protocols>>(
    name: Name,
    options: ActorOptions<MessageOf<Protocols, Name>, AnswerOf<Protocols, Name>>,
  ): void;
  /**
   * Puts a message into the mailbox of the key and waits for nothing. What the handler throws is logged; a message that
   * waits while the home is lost is dropped, and that is logged too.
   *
   * @throws {LeaseholdError} LEASEHOLD_NOT_HOME: `error.holder` and `error.address` say who is.
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ACTOR, LEASEHOLD_INVALID_AFFINITY_KEY, LEASEHOLD_MAILBOX_FULL
   */
  tell<Name extends ActorName<Protocols>>(name: Name, key: string, message: MessageOf<Protocols, Name>): void;
  /**
   * Puts a message into the mailbox of the key, and answers what its handler does. Rejects with what the handler throws.
   *
   * *Gotcha:* with LEASEHOLD_NOT_HOME the message had no turn, and can be sent again; unless it is what the handler's own
   * `ask` threw. A turn that runs when the home is lost goes on: its `signal` aborts, its fence refuses, its answer is given.
   *
   * @throws {LeaseholdError} LEASEHOLD_NOT_HOME, at once or when the home is lost while it waits.
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ACTOR, LEASEHOLD_INVALID_AFFINITY_KEY, LEASEHOLD_MAILBOX_FULL
   * @throws {LeaseholdError} LEASEHOLD_ACTOR_DEADLOCK when a handler asks for an answer that waits for its own turn to end.
   */
  ask<Name extends ActorName<Protocols>>(
    name: Name,
    key: string,
    message: MessageOf<Protocols, Name>,
  ): Promise<AnswerOf<Protocols, Name>>;
}
