import { buildProblem, buildPublicBody, type ProblemContext, type PublicProblem } from './problem.ts';
import { refusals, type RefusalReason } from './refusal.ts';
import type { HolderView, ThisInstance } from './target.ts';

export interface GuardProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: PublicProblem;
}

/** A guard has no options: it answers as a proxy with none. */
export function guardContext(leasehold: ThisInstance, lease: HolderView): ProblemContext {
  return { options: { expose: false, pseudonym: 'leasehold', instanceHeader: null }, leasehold, lease };
}

/**
 * What a guard of a framework answers, for those who write it themselves. `Content-Length` is left to who writes the body,
 * which names no instance.
 */
export function guardProblem(reason: RefusalReason, context: ProblemContext): GuardProblem {
  const { fields } = buildProblem({ reason }, context);
  const headers: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) headers[fields[i] as string] = fields[i + 1] as string;
  delete headers['Content-Length'];
  return { status: refusals[reason].status, headers, body: buildPublicBody(reason, context.lease.role) };
}
