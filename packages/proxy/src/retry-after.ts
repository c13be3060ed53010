import type { RefusalKind } from './refusal.ts';
import type { HolderView } from './target.ts';

/** A role that was given back is somebody's again within milliseconds; a second is the least that the field can say. */
const SOON_SECONDS = 1;

/**
 * Whole seconds, at least 1, after which trying again makes sense; null when it does not. A role that changes hands is back
 * soon; a holder that cannot be reached keeps its lease until that runs out; anything else is known better after the next
 * heartbeat.
 */
export function retryAfterSeconds(retryAfter: RefusalKind['retryAfter'], lease: HolderView): number | null {
  if (retryAfter === null) return null;
  if (retryAfter === 'soon') return SOON_SECONDS;
  const { holderRemainingMs, renewIntervalMs } = lease;
  const waitMs = retryAfter === 'lease' && holderRemainingMs > 0 ? holderRemainingMs : renewIntervalMs;
  return Math.max(1, Math.ceil(waitMs / 1_000));
}
