import type { LeaseChange } from '../../../lab/src/checker/history.ts';
import type { Handover } from './history.ts';

/** Every time that a role was taken or given back, in order; renewals are left out. */
export function handoversOf(changes: readonly LeaseChange[]): Handover[] {
  const tokens = new Map<string, number | null>();
  const handovers: Handover[] = [];
  for (const { role, holder, token, at } of changes) {
    const current = holder === null ? null : token;
    if (tokens.get(role) !== current && (holder !== null || tokens.has(role))) handovers.push({ role, at, holder });
    tokens.set(role, current);
  }
  return handovers.sort((a, b) => a.at - b.at);
}
