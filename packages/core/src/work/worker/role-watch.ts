import type { HeldRoles } from '../held-roles.ts';
import type { Poller } from './poller.ts';

/**
 * Has the poller claim at once when a role comes here: its rows are due for long, and the pause it is in was meant for those of other
 * roles. Answers how to end that.
 */
export function watchRoles(roles: Pick<HeldRoles, 'nextTerm'>, poller: Pick<Poller, 'dueIn'>): () => void {
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await roles.nextTerm(over.signal);
      // Also for a term that begins before the next wait: the claim asks which roles are held when it is made.
      poller.dueIn(0);
    }
  };
  void watch();
  return () => over.abort();
}
