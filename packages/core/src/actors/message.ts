import { AsyncLocalStorage } from 'node:async_hooks';
import { type LeaseholdError, showValue } from '../errors.ts';
import type { Term } from '../lease/term.ts';
import type { Logger } from '../logger.ts';

/** One message on its way. Exactly one of `answer`, `fail` and `refuse` is called, once. */
export interface Message {
  readonly body: unknown;
  /** It came under this term, and has its turn under it or under none. */
  readonly term: Term;
  /** Calls something as the sender would: with its trace and its request, not with those of whoever came before it. */
  readonly asSender: <T>(call: () => T) => T;
  answer(value: unknown): void;
  /** Its handler threw. */
  fail(error: unknown): void;
  /** It never had its turn. */
  refuse(error: LeaseholdError): void;
}

export function question(body: unknown, term: Term, { resolve, reject }: PromiseWithResolvers<unknown>): Message {
  return { body, term, asSender: AsyncLocalStorage.snapshot(), answer: resolve, fail: reject, refuse: reject };
}

export interface NoticeOptions {
  readonly actor: string;
  readonly key: string;
  readonly logger: Logger;
}

export function notice(body: unknown, term: Term, { actor, key, logger }: NoticeOptions): Message {
  const log = (text: string) => (error: unknown) => logger.error({ err: error, actor, key: showValue(key) }, text);
  return {
    body,
    term,
    asSender: AsyncLocalStorage.snapshot(),
    answer: () => {},
    fail: log('an actor failed at a message that nobody waits for; the next one runs'),
    refuse: log('a message that nobody waits for was dropped: this instance was not the home any more when its turn came'),
  };
}
