import { LeaseholdError, showValue } from '../errors.ts';
import type { ActorContext } from './actor.ts';
import { Fifo } from './fifo.ts';
import type { HomeShard } from './home-shard.ts';
import type { Message } from './message.ts';
import { notHome } from './not-home.ts';
import { type Desk, Turn } from './turn.ts';

export interface MailboxOptions {
  readonly actor: string;
  readonly key: string;
  readonly limit: number;
  readonly handle: (message: unknown, context: ActorContext) => unknown;
  readonly shard: HomeShard;
  /** Nothing waits and nothing runs: it can be forgotten. */
  readonly onIdle: () => void;
}

const MISSED = Symbol('the term of the message is over');

/**
 * The messages of one key that wait, and the one that has its turn. It is there for as long as there are any.
 *
 * Each turn begins in a pass of the event loop of its own. Every key thus has one turn before any has two, and however
 * many messages there are, heartbeats and requests get in between.
 */
export class Mailbox implements Desk {
  readonly #options: MailboxOptions;
  readonly #waiting = new Fifo<Message>();
  #turn: Turn | null = null;
  #isAwake = false;

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  get turn(): Turn | null {
    return this.#turn;
  }

  /** @throws {LeaseholdError} LEASEHOLD_MAILBOX_FULL */
  put(message: Message): void {
    const { actor, key, limit } = this.#options;
    if (this.#waiting.size >= limit) {
      const text = `mailbox of actor ${showValue(actor)} is full for key ${showValue(key)}: ${limit} messages wait. Send less, or later; a handler that does not end blocks its key.`;
      throw new LeaseholdError('LEASEHOLD_MAILBOX_FULL', text, { option: 'mailbox' });
    }
    this.#waiting.push(message);
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#goOn();
  }

  /** The home is lost. What runs goes on, with its signal aborted; the key stays blocked until it has ended. */
  refuseWaiting(cause: unknown): void {
    const { shard, actor, key } = this.#options;
    for (const message of this.#waiting.takeAll()) message.refuse(notHome(shard.lease, actor, key, cause));
  }

  #goOn(): void {
    setImmediate(() => void this.#next());
  }

  async #next(): Promise<void> {
    const message = this.#waiting.shift();
    if (message !== undefined) await this.#run(message);
    if (this.#waiting.size > 0) {
      this.#goOn();
      return;
    }
    this.#isAwake = false;
    this.#options.onIdle();
  }

  async #run(message: Message): Promise<void> {
    const { shard, actor, key } = this.#options;
    const turn = new Turn(this);
    this.#turn = turn;
    try {
      const result = await message.asSender(() => shard.lease.whileHeld((term) => this.#handle(turn, message, term)));
      if (result.ran && result.value !== MISSED) message.answer(result.value);
      else message.refuse(notHome(shard.lease, actor, key, message.term.signal.reason));
    } catch (error) {
      message.fail(error);
    } finally {
      this.#turn = null;
    }
  }

  #handle(turn: Turn, message: Message, term: ActorContext['term']): unknown {
    if (term.fencingToken !== message.term.fencingToken) return MISSED;
    return turn.run(() => this.#options.handle(message.body, { key: this.#options.key, term, signal: term.signal }));
  }
}
