import { groupBy } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome } from '../client/outcome.ts';
import type { Run } from './run.ts';

export interface ExecutionVerdict {
  /** Requests that were executed more than once, on one instance or on two. */
  readonly doubled: readonly Violation[];
  /** Answers in a holder's name that it did not execute, or another did. */
  readonly missing: readonly Violation[];
  /** Refused as not executed, and executed. */
  readonly refusedAndRun: readonly Violation[];
  /** Executions of what nobody sent: a body that became a request, for one. */
  readonly stray: readonly Violation[];
}

/** The only refusal that leaves open whether the request was executed. */
const MAY_HAVE_RUN = 'outcome-unknown';

/** Compares what clients were told with what instances executed. */
export function checkExecutions(outcomes: readonly Outcome[], runs: readonly Run[]): ExecutionVerdict {
  const byId = groupBy(runs, ({ id }) => id);
  const sent = new Set(outcomes.map(({ id }) => id));
  return {
    doubled: [...byId].flatMap(([id, ofId]) => doubled(id, ofId)),
    missing: outcomes.flatMap((outcome) => missing(outcome, byId.get(outcome.id) ?? [])),
    refusedAndRun: outcomes.flatMap((outcome) => refusedAndRun(outcome, byId.get(outcome.id) ?? [])),
    stray: [...byId.keys()]
      .filter((id) => !sent.has(id))
      .map((id) => ({ check: 'stray', what: `${id} was executed and never sent` })),
  };
}

function doubled(id: string, runs: readonly Run[]): Violation[] {
  if (runs.length === 1) return [];
  return [{ check: 'doubled', what: `${id} was executed by ${runs.map(({ instance }) => instance).join(' and ')}` }];
}

function missing({ id, by }: Outcome, runs: readonly Run[]): Violation[] {
  if (by === null || (runs.length === 1 && runs[0]?.instance === by)) return [];
  const executed = runs.length === 0 ? 'nobody' : runs.map(({ instance }) => instance).join(' and ');
  return [{ check: 'missing', what: `${id} was answered by ${by} and executed by ${executed}` }];
}

function refusedAndRun({ id, by, status, reason }: Outcome, runs: readonly Run[]): Violation[] {
  if (by !== null || status === null || reason === MAY_HAVE_RUN || runs.length === 0) return [];
  return [{ check: 'refused and run', what: `${id} was refused (${status} ${reason}) and executed by ${runs[0]?.instance}` }];
}
