import type { HolderView } from '../target.ts';

/** Whether this instance executes the request itself. Asked for each request: a term can end between any two. */
export function isHeldHere(lease: HolderView): boolean {
  return lease.isHeld;
}
