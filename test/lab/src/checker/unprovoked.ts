import type { StruckFault, TermEvent, Violation, WorkerLog } from './history.ts';

/** The ends of a term that nobody asked for. */
const UNASKED: ReadonlySet<string> = new Set(['LEASEHOLD_TERM_EXPIRED', 'LEASEHOLD_TERM_LOST']);

/** A fault may cost a term this much longer than it lasts, on top of a lease. */
const AFTERMATH_MS = 1_000;

/** No term is lost for nothing: a fault has touched the instance, the row, or the database, just then or shortly before. */
export function findUnprovoked(log: WorkerLog, faults: readonly StruckFault[], leaseMs: number): Violation[] {
  const aftermathUs = (leaseMs + AFTERMATH_MS) * 1_000;
  return log.events
    .filter(({ reason }) => reason !== null && UNASKED.has(reason))
    .filter((loss) => !faults.some((fault) => provokes(fault, { loss, instance: log.instance, aftermathUs })))
    .map(({ role, token, at, reason }) => ({
      check: 'unprovoked loss',
      what: `${role}: ${log.instance} lost token ${token} at ${at} (${reason}), and no fault had touched it`,
    }));
}

interface Loss {
  readonly loss: TermEvent;
  readonly instance: string;
  readonly aftermathUs: number;
}

function provokes({ reach, from, to }: StruckFault, { loss, instance, aftermathUs }: Loss): boolean {
  if (from > loss.at || to + aftermathUs < loss.at) return false;
  if (reach.of === 'instances') return reach.instances.includes(instance);
  return reach.of === 'all' || reach.roles.includes(loss.role);
}
