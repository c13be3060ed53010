import type { ServerResponse } from 'node:http';
import { cutOff } from './cut.ts';
import { isObserved, publish } from './diagnostics.ts';
import { http2Stream } from './http2.ts';
import { type LocalFields, mergeFields, setLocalFields } from './headers/merge.ts';
import { buildProblem, type ProblemContext, type Refusal } from './problem.ts';
import { refusals } from './refusal.ts';

/** Answers with a problem, together with the fields that this instance set before, so that a browser may read it (CORS). */
export function answerProblem(
  refusal: Refusal,
  context: ProblemContext,
  to: { response: ServerResponse; local: LocalFields },
): void {
  const { response, local } = to;
  publishRejection(refusal, context, response.req.method);
  if (response.headersSent) {
    cutOff(response, false);
    return;
  }
  const problem = buildProblem(refusal, context);
  const { instanceHeader } = context.options;
  setLocalFields(response, local);
  mergeFields(response, problem.fields);
  if (instanceHeader !== null) response.setHeader(instanceHeader, context.leasehold.instance.id);
  // HTTP/2 has no status text, and Node warns about one.
  if (http2Stream(response) === undefined) response.writeHead(problem.status, problem.statusText);
  else response.writeHead(problem.status);
  response.end(problem.body);
}

function publishRejection(refusal: Refusal, context: ProblemContext, method: string | undefined): void {
  if (!isObserved('leasehold:proxy.rejected')) return;
  publish('leasehold:proxy.rejected', {
    instance: context.leasehold.instance.id,
    role: context.lease.role,
    holder: refusal.target?.holder ?? context.lease.currentHolder,
    method: method ?? '',
    reason: refusal.reason,
    statusCode: refusals[refusal.reason].status,
    ...('error' in refusal ? { error: refusal.error } : {}),
  });
}
