import { buildPublicBody, type PublicProblem } from './problem.ts';
import { refusals } from './refusal.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { RoleLeaseView } from './target.ts';

export interface NotHeldProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: PublicProblem;
}

/** What a guard of a framework answers where this instance does not hold the role and nothing is forwarded: reason `not-held`. */
export function notHeldProblem(lease: RoleLeaseView): NotHeldProblem {
  const kind = refusals['not-held'];
  return {
    status: kind.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'Retry-After': String(retryAfterSeconds(kind.retryAfter, lease)),
    },
    body: buildPublicBody('not-held', lease.role),
  };
}
