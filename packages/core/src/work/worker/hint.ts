import type { Random } from '../../lease/pacing.ts';
import type { Announcer } from './announce.ts';
import type { Poller } from './poller.ts';

/** Every worker hears of the same row: they should not ask in the same millisecond. Many hints within it are one. */
const SPREAD_MS = 50;

export interface HintOptions {
  readonly wakeUp: ((notify: () => void) => (() => void) | undefined) | undefined;
  readonly random: Random;
  readonly poller: Pick<Poller, 'dueIn'>;
  readonly announcer: Announcer;
}

const nothing = (): void => {};

/** Answers how to end the subscription. A hint that fails costs time and no row. */
export function subscribeHint({ wakeUp, random, poller, announcer }: HintOptions): () => void {
  if (wakeUp === undefined) return nothing;
  const guarded = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      announcer.hintFailed(error);
      return undefined;
    }
  };
  const unsubscribe = guarded(() => wakeUp(() => poller.dueIn(SPREAD_MS * random())));
  return () => guarded(() => unsubscribe?.());
}
