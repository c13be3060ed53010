import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome } from '../client/outcome.ts';

/**
 * An answer is the holder's, or a 503 that says when to try again: a whole number of seconds from 1. Nothing else may
 * come from an instance that does not hold.
 */
export function findStrangeAnswers(outcomes: readonly Outcome[]): Violation[] {
  return outcomes.flatMap((outcome) => {
    const { id, status, by, reason, retryAfter } = outcome;
    if (status === null || (by !== null && status === 200)) return [];
    if (by === null && status === 503 && /^[1-9]\d*$/.test(retryAfter ?? '')) return [];
    return [
      { check: 'strange answer', what: `${id}: ${status} ${reason ?? ''}, Retry-After: ${retryAfter ?? 'none'}, by ${by}` },
    ];
  });
}

/** A break that the client could not notice: it took a part for the whole. */
export function findFalselyComplete(outcomes: readonly Outcome[], isCertain: (outcome: Outcome) => boolean): Violation[] {
  return outcomes
    .filter((outcome) => outcome.kind === 'whole' && !outcome.isWhole && isCertain(outcome))
    .map(({ id, by }) => ({ check: 'falsely complete', what: `${id}: the answer of ${by} ended early and looked whole` }));
}

/** The holder answered, and what had reached it of the body was not what the client had sent. */
export function findSpoiltUploads(outcomes: readonly Outcome[]): Violation[] {
  return outcomes
    .filter(({ uploadIsWhole }) => uploadIsWhole === false)
    .map(({ id, by }) => ({ check: 'spoilt upload', what: `${id}: ${by} got another body than was sent` }));
}

/** An instance that lived and ran gave its client neither an answer nor a refusal: the connection just ended. */
export function findSilentFailures(outcomes: readonly Outcome[], wasStruck: (outcome: Outcome) => boolean): Violation[] {
  return outcomes
    .filter((outcome) => outcome.kind === 'failed' && !wasStruck(outcome))
    .map(({ id, entry, error }) => ({
      check: 'silent failure',
      what: `${id}: ${entry} ended the connection (${error ?? 'no error'})`,
    }));
}
