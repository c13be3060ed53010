import type { Term } from '../lease/term.ts';

/** What a handler knows beside its message. */
export interface ActorContext {
  /** Whose turn it is. */
  readonly key: string;
  /** The term that the turn runs under: its `fence` and its `fencingToken` are those to write with. */
  readonly term: Term;
  /** `term.signal`: aborts when this instance is not the home any more, with the code of the end as its reason. */
  readonly signal: AbortSignal;
}

export interface ActorOptions<Message = unknown, Answer = unknown> {
  /**
   * Handles one message: never two of the same key at once. What it answers is the answer of `ask`; what it throws, too.
   *
   * *Gotcha:* it has no time limit. One that does not end blocks its key, and no other.
   */
  handle(message: Message, context: ActorContext): Answer | Promise<Answer>;
  /** How many messages of one key may wait for their turn: 1 to 1,000,000. One more is refused at once. @default 1_000 */
  readonly mailbox?: number;
}

/**
 * What each actor takes and answers, by name: `{ Order: (message: OrderMessage) => OrderState }`. Types alone; nothing is
 * called.
 */
export type ActorProtocols<Protocols> = { readonly [Name in keyof Protocols]: (message: never) => unknown };

/** Names and messages that nobody described. */
export type AnyActors = Readonly<Record<string, (message: unknown) => unknown>>;

export type ActorName<Protocols> = keyof Protocols & string;

export type MessageOf<Protocols, Name extends keyof Protocols> = Protocols[Name] extends (message: infer Message) => unknown
  ? Message
  : never;

export type AnswerOf<Protocols, Name extends keyof Protocols> = Protocols[Name] extends (message: never) => infer Answer
  ? Awaited<Answer>
  : never;
