import type { RefusalKind } from './refusal.ts';
import type { HolderView } from './target.ts';

/**
 * Whole seconds, at least 1, after which trying again makes sense; null when it does not. A holder that cannot be reached
 * keeps its lease until that runs out; anything else is known better after the next heartbeat.
 */
export function retryAfterSeconds(retryAfter: RefusalKind['retryAfter'], lease: HolderView): number | null {
  if (retryAfter === null) return null;
  const { holderRemainingMs, renewIntervalMs } = lease;
  const waitMs = retryAfter === 'lease' && holderRemainingMs > 0 ? holderRemainingMs : renewIntervalMs;
  return Math.max(1, Math.ceil(waitMs / 1_000));
}
