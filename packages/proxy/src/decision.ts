import type { RefusalReason } from './refusal.ts';
import type { HolderTarget } from './target.ts';

/** What is to happen with a request. The objects are shared between requests: deciding allocates nothing. */
export type Decision = PassDecision | RefuseDecision | ForwardDecision;

/** Local: not under a prefix, or this instance holds the role. */
export interface PassDecision {
  readonly kind: 'pass';
}

/** Answer with a problem; nothing was sent anywhere. */
export interface RefuseDecision {
  readonly kind: 'refuse';
  readonly reason: RefusalReason;
}

/** Send it to the holder, once; or its client, where `mode` is `redirect`. */
export interface ForwardDecision {
  readonly kind: 'forward';
  readonly target: HolderTarget;
}

/** Not under a prefix. */
export const pass: PassDecision = { kind: 'pass' };

/** Under a prefix, and this instance holds the role: the answer may name it. */
export const passHeld: PassDecision = { kind: 'pass' };
