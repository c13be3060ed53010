import type { Visit, VisitLog } from './log.ts';

/** How long a worker waited from an answer until it came again, and what the ladder says. */
export interface Wait {
  readonly visit: Visit;
  /** Until the next request of the same delivery, in milliseconds; null for the last one, and where nobody was answered. */
  readonly waitedMs: number | null;
  /** By the ladder, in milliseconds. */
  readonly stepMs: number;
  /** That the receiver asked for, in milliseconds; null where it asked for nothing. */
  readonly askedMs: number | null;
}

export function waitsOf(log: VisitLog, key: string, stepsMs: readonly number[]): Wait[] {
  const visits = log.of(key);
  return visits.map((visit, place) => {
    const next = visits[place + 1];
    const { answeredAt, notBefore, attempt } = visit;
    return {
      visit,
      waitedMs: next === undefined || answeredAt === null ? null : next.at - answeredAt,
      stepMs: stepsMs[Math.min(attempt, stepsMs.length) - 1] ?? 0,
      askedMs: notBefore === null || answeredAt === null ? null : notBefore - answeredAt,
    };
  });
}

/** Times that a worker came again sooner than the ladder says. One that heard no answer counts from another moment. */
export function tooSoon(log: VisitLog, stepsMs: readonly number[]): number {
  const waits = log.keys.flatMap((key) => waitsOf(log, key, stepsMs));
  return waits.filter(({ visit, waitedMs, stepMs }) => waitedMs !== null && waitedMs < stepMs && !log.unheard.has(visit)).length;
}

/** The delivery that needed the most requests. */
export function mostTried(log: VisitLog): string {
  const ordered = log.keys.toSorted((one, other) => log.countOf(other) - log.countOf(one));
  return ordered[0] ?? '';
}
