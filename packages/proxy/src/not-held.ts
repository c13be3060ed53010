import { buildProblem, buildPublicBody, type ProblemContext, type PublicProblem } from './problem.ts';
import { refusals } from './refusal.ts';
import type { HolderView, ThisInstance } from './target.ts';

export interface NotHeldProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: PublicProblem;
}

/** A guard has no options: it answers as a proxy with none. */
export function notHeldContext(leasehold: ThisInstance, lease: HolderView): ProblemContext {
  return { options: { expose: false, pseudonym: 'leasehold', instanceHeader: null }, leasehold, lease };
}

/**
 * What a guard of a framework answers where this instance does not hold the role and nothing is forwarded: reason `not-held`.
 * `Content-Length` is left to who writes the body.
 */
export function notHeldProblem(lease: HolderView): NotHeldProblem {
  const { fields } = buildProblem({ reason: 'not-held' }, notHeldContext(NOWHERE, lease));
  const headers: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) headers[fields[i] as string] = fields[i + 1] as string;
  delete headers['Content-Length'];
  return { status: refusals['not-held'].status, headers, body: buildPublicBody('not-held', lease.role) };
}

/** The body of a guard names no instance. */
const NOWHERE: ThisInstance = { instance: { id: '', label: '', address: null } };
