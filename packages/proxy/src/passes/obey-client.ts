import type { IncomingMessage } from 'node:http';
import type { RefuseDecision } from '../decision.ts';
import { findField, NO_FORWARD_FIELD } from '../headers/field-names.ts';
import { refuse } from '../refusal.ts';

/** A client that asks this very instance (a probe, or one that finds the holder by itself) says so, with whatever value. */
export function obeyClient(request: IncomingMessage): RefuseDecision | undefined {
  return findField(request.rawHeaders, NO_FORWARD_FIELD) === -1 ? undefined : refuse('forwarding-forbidden');
}
