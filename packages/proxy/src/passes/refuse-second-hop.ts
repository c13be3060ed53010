import type { IncomingMessage } from 'node:http';
import type { RefuseDecision } from '../decision.ts';
import { findField, HOP_FIELD } from '../headers/field-names.ts';
import { refuse } from '../refusal.ts';

/**
 * One hop, ever: two instances that take each other for the holder would pass a request back and forth. The raw fields
 * are read, before any that `Connection` names are stripped. A client that sends the marker by itself only has its own
 * request refused.
 */
export function refuseSecondHop(request: IncomingMessage): RefuseDecision | undefined {
  return findField(request.rawHeaders, HOP_FIELD) === -1 ? undefined : refuse('failover');
}
