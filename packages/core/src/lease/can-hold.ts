import { LeaseholdError, showValue } from '../errors.ts';

/**
 * Nothing but true and false is an answer: that of a promise, which counts as true, would let this instance hold what it may not.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function askCanHold(canHold: (role: string) => unknown, role: string): boolean {
  const answer = ask(canHold, role);
  if (typeof answer === 'boolean') return answer;
  const isPromise = answer instanceof Promise;
  // Its rejection is nobody's any more, and would end the process.
  if (isPromise) answer.catch(() => {});
  throw invalid(role, `answered with ${isPromise ? 'a promise' : showValue(answer)}`);
}

function ask(canHold: (role: string) => unknown, role: string): unknown {
  try {
    return canHold(role);
  } catch (cause) {
    throw invalid(role, `threw ${cause instanceof Error ? cause.message : showValue(cause)}`, { cause });
  }
}

function invalid(role: string, what: string, why: { readonly cause?: unknown } = {}): LeaseholdError {
  const message = `canHold ${what} for role ${showValue(role)}; answer with true or false, without waiting for anything.`;
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: 'canHold', role, ...why });
}
