import type { Contest, Violation } from './history.ts';

/** Each surviving instance won every role when it was the only one that could. */
export function findStopped(contests: readonly Contest[]): Violation[] {
  return contests
    .filter(({ missed }) => missed.length > 0)
    .map(({ instance, missed }) => ({
      check: 'competing',
      what: `${instance} did not win, though nobody else could: ${missed.join(', ')}`,
    }));
}
