import type { LeaseChange } from '../../../lab/src/checker/history.ts';
import type { LoadHistory } from '../../src/checker/judge.ts';
import type { Run } from '../../src/checker/run.ts';
import type { Outcome } from '../../src/client/outcome.ts';

/** Milliseconds read better than the checker's microseconds. */
const US = 1_000;

/** Asked through `gateway`, executed and answered by `a`. */
export function outcome(id: string, more: Partial<Outcome> = {}): Outcome {
  return {
    id,
    entry: 'gateway',
    kind: 'whole',
    startedAt: 1_000 * US,
    sentAt: 1_001 * US,
    headAt: 1_010 * US,
    endedAt: 1_020 * US,
    plannedMs: 0,
    status: 200,
    by: 'a',
    retryAfter: null,
    reason: null,
    isWhole: true,
    endsWithConnection: false,
    uploadIsWhole: null,
    error: null,
    ...more,
  };
}

/** Refused by the gateway. */
export function refusal(id: string, more: Partial<Outcome> = {}): Outcome {
  return outcome(id, { status: 503, by: null, retryAfter: '1', reason: 'no-holder', ...more });
}

export function run(id: string, more: Partial<Run> = {}): Run {
  return { id, instance: 'a', at: 1_005 * US, token: 1, ...more };
}

function change(holder: string, token: number, [at, expiresAt]: readonly [number, number]): LeaseChange {
  return { role: 'orders', holder, token, at: at * US, acquiredAt: at * US, expiresAt: expiresAt * US };
}

/** One answered request, one refused, `a` holds for two seconds, and `b` from then on; both clocks agree. */
export const good: LoadHistory = {
  outcomes: [outcome('1'), refusal('2')],
  runs: [run('1')],
  fates: [
    { instance: 'gateway', endedFrom: Number.POSITIVE_INFINITY },
    { instance: 'a', endedFrom: Number.POSITIVE_INFINITY },
  ],
  changes: [change('a', 1, [0, 2_000]), change('b', 2, [2_000, 4_000])],
  clock: [{ from: 0, to: 0, database: 0 }],
  stalls: new Map(),
  ownStalls: [],
  headMs: 3_000,
};
