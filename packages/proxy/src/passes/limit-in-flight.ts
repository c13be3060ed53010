import type { RefuseDecision } from '../decision.ts';
import type { InFlight } from '../in-flight.ts';
import { refuse } from '../refusal.ts';

/**
 * A holder that slows down must not fill this instance's memory with waiting requests. A limit on sockets would be a
 * hidden queue; this one answers.
 */
export function limitInFlight(inFlight: InFlight): RefuseDecision | undefined {
  if (inFlight.isClosed) return refuse('stopping');
  return inFlight.isFull ? refuse('overloaded') : undefined;
}
