import { LeaseholdError, showValue } from '../errors.ts';
import type { Term } from '../lease/term.ts';
import type { Logger } from '../logger.ts';
import { requireKey } from '../partition/affinity-key.ts';
import { requireFunction, requireKnown, requireThat } from '../require-option.ts';
import type { ActorOptions, AnyActors } from './actor.ts';
import type { ActorHome } from './actor-home.ts';
import type { HomeShard } from './home-shard.ts';
import { Mailbox } from './mailbox.ts';
import { type Message, notice, question } from './message.ts';
import { notHome } from './not-home.ts';
import { currentTurn, waitsInCircle } from './turn.ts';

const ACTOR_OPTIONS: readonly (keyof ActorOptions)[] = ['handle', 'mailbox'];
const DEFAULT_MAILBOX = 1_000;
const LARGEST_MAILBOX = 1_000_000;
const LONGEST_NAME = 128;

/** Always the same one for the same actor and key. */
export type ShardOf = (actor: string, key: string) => HomeShard;

export interface ManagedActorHomeOptions {
  readonly shardOf: ShardOf;
  readonly logger: Logger;
}

/** An actor with the mailboxes of those of its keys that have anything to do. */
interface Entry {
  readonly name: string;
  readonly handle: NonNullable<ActorOptions['handle']>;
  readonly limit: number;
  readonly mailboxes: Map<string, Mailbox>;
}

/** A message that has passed every check but that of its mailbox. */
interface Place {
  readonly entry: Entry;
  readonly key: string;
  readonly shard: HomeShard;
  readonly term: Term;
}

export class ManagedActorHome implements ActorHome<AnyActors> {
  readonly #options: ManagedActorHomeOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ManagedActorHomeOptions) {
    this.#options = options;
  }

  actor(name: string, options: ActorOptions): void {
    const isName = typeof name === 'string' && name.trim() !== '' && name.length <= LONGEST_NAME;
    requireThat(isName, 'name', name, `give 1 to ${LONGEST_NAME} characters, such as 'Order'`);
    requireThat(typeof options === 'object' && options !== null, 'options', options, 'give an object, such as { handle }');
    requireKnown('actor()', options, ACTOR_OPTIONS);
    const { mailbox: limit = DEFAULT_MAILBOX } = options;
    requireFunction('handle', Reflect.get(options, 'handle'));
    const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_MAILBOX;
    requireThat(isLimit, 'mailbox', limit, `give an integer from 1 to ${LARGEST_MAILBOX}`);
    if (this.#entries.has(name)) {
      const message = `actor ${showValue(name)} is registered already; one handler has to do for all of its messages.`;
      throw new LeaseholdError('LEASEHOLD_DUPLICATE_ACTOR', message, { option: 'name' });
    }
    this.#entries.set(name, { name, limit, handle: options.handle.bind(options), mailboxes: new Map() });
  }

  tell(name: string, key: string, message: unknown): void {
    const place = this.#placeOf(name, key);
    this.#put(place, notice(message, place.term, { actor: name, key, logger: this.#options.logger }));
  }

  async ask(name: string, key: string, message: unknown): Promise<unknown> {
    const place = this.#placeOf(name, key);
    const turn = currentTurn();
    const busy = place.entry.mailboxes.get(key);
    if (turn !== null && busy !== undefined && waitsInCircle(turn, busy)) throw deadlock(name, key);
    const answer = Promise.withResolvers<unknown>();
    const mailbox = this.#put(place, question(message, place.term, answer));
    turn?.wait(mailbox, answer.promise);
    return answer.promise;
  }

  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ACTOR, LEASEHOLD_INVALID_AFFINITY_KEY, LEASEHOLD_NOT_HOME */
  #placeOf(name: string, key: string): Place {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw this.#unknown(name);
    requireKey(key);
    const shard = this.#options.shardOf(name, key);
    const { term } = shard;
    if (term === null) throw notHome(shard.lease, name, key);
    return { entry, key, shard, term };
  }

  #unknown(name: unknown): LeaseholdError {
    const known = [...this.#entries.keys()].slice(0, 10).join(', ') || 'none';
    const message = `actor ${showValue(name)} is not registered (registered: ${known}); call actor(${showValue(name)}, { handle }) first, on every instance.`;
    return new LeaseholdError('LEASEHOLD_UNKNOWN_ACTOR', message);
  }

  #put({ entry, key, shard }: Place, message: Message): Mailbox {
    const mailbox = entry.mailboxes.get(key) ?? this.#open(entry, key, shard);
    mailbox.put(message);
    return mailbox;
  }

  #open({ name: actor, handle, limit, mailboxes }: Entry, key: string, shard: HomeShard): Mailbox {
    const onIdle = (): void => {
      mailboxes.delete(key);
      shard.remove(mailbox);
    };
    const mailbox = new Mailbox({ actor, key, limit, handle, shard, onIdle });
    mailboxes.set(key, mailbox);
    shard.add(mailbox);
    return mailbox;
  }
}

function deadlock(actor: string, key: string): LeaseholdError {
  const message = `actor ${showValue(actor)} with key ${showValue(key)} was asked for an answer that would have to wait for the turn that asks; use tell(), or call a function.`;
  return new LeaseholdError('LEASEHOLD_ACTOR_DEADLOCK', message);
}
