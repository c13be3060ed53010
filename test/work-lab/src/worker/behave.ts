import { setTimeout as sleep } from 'node:timers/promises';
import { bury, done, type HandlerResult, release, retryIn } from '@leasehold/core/work';
import { type Random, randomBetween, randomInteger } from '../../../lab/src/random.ts';
import { ASKED, LEASE_MS } from '../table.ts';
import type { Run } from './runs.ts';

const STEP_MS = 20;
const QUICK_MS = [0, 25] as const;
const ASKED_MS = [50, 800] as const;

/** What a handler may do, and how often among a thousand. */
const SHARES = {
  works: 942,
  throws: 20,
  asksForLater: 15,
  handsBack: 8,
  /** For longer than a lease, which has to be prolonged meanwhile. */
  takesLong: 5,
  /** Until its signal aborts. */
  hangs: 1,
  /** Goes on for long after its signal has aborted, and comes to an end all the same. */
  ignoresSignal: 1,
  putsAway: 3,
  returnsGarbage: 5,
} as const;

export type Behaviour = keyof typeof SHARES;

export const TIMEOUT_MS = 2 * LEASE_MS;

/** Thrown by a handler; it names the claim, so that the lab knows who wrote it. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(run: Run, why: string, cause?: unknown) {
    super(`${why} under ${run.job.claimId}`, { cause });
  }
}

export function drawBehaviour(random: Random): Behaviour {
  let left = randomInteger(random, 1_000);
  for (const [behaviour, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return behaviour as Behaviour;
  }
  return 'works';
}

/** Works for `ms`, looking at the signal at each step. @throws {Failure} when it aborts. */
async function work(run: Run, ms: number): Promise<void> {
  const until = performance.now() + ms;
  do {
    if (!run.look()) throw new Failure(run, 'was told to end', run.job.signal.reason);
    await sleep(Math.min(STEP_MS, Math.max(until - performance.now(), 0)));
  } while (performance.now() < until);
}

const results: Readonly<Record<Behaviour, (run: Run, random: Random) => Promise<HandlerResult>>> = {
  works: async (run, random) => {
    await work(run, randomBetween(random, QUICK_MS));
    return done({ written_by: run.job.claimId });
  },
  throws: async (run) => {
    throw new Failure(run, 'failed');
  },
  asksForLater: async (run, random) => {
    const askedMs = Math.round(randomBetween(random, ASKED_MS));
    return retryIn(askedMs, { written_by: run.job.claimId, asked_ms: askedMs, error: ASKED });
  },
  handsBack: async () => release(),
  takesLong: async (run, random) => {
    await work(run, LEASE_MS * (1 + random() / 2));
    return done({ written_by: run.job.claimId });
  },
  hangs: async (run) => {
    await work(run, Number.POSITIVE_INFINITY);
  },
  ignoresSignal: async (run) => {
    await sleep(TIMEOUT_MS + LEASE_MS);
    return done({ written_by: run.job.claimId });
  },
  putsAway: async (run) => bury('put away by hand', { written_by: run.job.claimId }),
  returnsGarbage: async (run) => ({ failed: run.job.claimId }) as never,
};

export function behave(behaviour: Behaviour, run: Run, random: Random): Promise<HandlerResult> {
  return results[behaviour](run, random);
}
