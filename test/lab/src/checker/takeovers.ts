import type { ClockMap } from './clock-map.ts';
import { excusedTime, type Gap } from './excuses.ts';
import { groupBy, ms } from './group.ts';
import type { Belief, DatabaseTerm, StruckFault, Violation } from './history.ts';

/** On top of the lease, for a candidate to notice and to be answered. */
const GRACE_MS = 1_000;

/** An acquisition whose reply could not arrive any more, because the fault struck within one call of it. */
const CALL_US = 600_000;

export interface TakeoverEvidence {
  readonly beliefs: readonly Belief[];
  readonly terms: ReadonlyMap<string, readonly DatabaseTerm[]>;
  readonly faults: readonly StruckFault[];
  readonly clock: ClockMap;
  readonly leaseMs: number;
  readonly watchedUntil: number;
}

export interface TakeoverResult {
  readonly violations: readonly Violation[];
  readonly count: number;
  /** The longest time that a role was nobody's, less what faults of the database excuse. */
  readonly worstMs: number;
  readonly boundMs: number;
}

/** Every role was held again soon enough after its holder was gone, as the instances themselves were told. */
export function checkTakeovers(evidence: TakeoverEvidence): TakeoverResult {
  const boundMs = evidence.leaseMs + GRACE_MS;
  const takeovers = [...groupBy(evidence.beliefs, ({ role }) => role)].flatMap(([role, beliefs]) =>
    takeoversOf(role, beliefs, evidence),
  );
  return {
    violations: takeovers.filter(({ us }) => us > boundMs * 1_000).map(tooLate),
    count: takeovers.length,
    worstMs: takeovers.reduce((worst, { us }) => Math.max(worst, us / 1_000), 0),
    boundMs,
  };
}

interface Takeover {
  readonly role: string;
  readonly gap: Gap;
  /** What counts of the gap. */
  readonly us: number;
}

function tooLate({ role, gap, us }: Takeover): Violation {
  const what =
    `${role}: nobody was told that it holds for ${ms(us)} (${ms(gap.to - gap.from)} with what is excused), ` +
    `from ${gap.from} to ${gap.to}`;
  return { check: 'takeover', what };
}

function takeoversOf(role: string, beliefs: readonly Belief[], evidence: TakeoverEvidence): Takeover[] {
  const { faults, watchedUntil } = evidence;
  const restarts = restartsOf(role, evidence);
  return gapsOf(beliefs, watchedUntil).map((gap) => {
    const from = restarts.filter((at) => at > gap.from && at < gap.to).reduce((latest, at) => Math.max(latest, at), gap.from);
    const counted = { from, to: gap.to };
    return { role, gap, us: counted.to - counted.from - excusedTime(role, counted, faults) };
  });
}

/** The times at which nobody was told that it holds. */
function gapsOf(beliefs: readonly Belief[], watchedUntil: number): Gap[] {
  const sorted = [...beliefs].sort((a, b) => a.first.to - b.first.to);
  const gaps: Gap[] = [];
  let coveredUntil = sorted[0]?.first.to ?? watchedUntil;
  for (const { first, last } of sorted) {
    if (first.to > coveredUntil) gaps.push({ from: coveredUntil, to: first.to });
    coveredUntil = Math.max(coveredUntil, last.from);
  }
  if (coveredUntil < watchedUntil) gaps.push({ from: coveredUntil, to: watchedUntil });
  return gaps;
}

/**
 * The clock starts anew when an instance takes the role that cannot know it: it is frozen, cut off or dead by the time
 * of the answer. That costs one more lease, as the loss of any holder does.
 */
function restartsOf(role: string, { terms, faults, clock }: TakeoverEvidence): number[] {
  return (terms.get(role) ?? [])
    .map(({ holder, acquiredAt }) => ({ holder, at: clock.toMonotonic(acquiredAt).to }))
    .filter(({ holder, at }) => faults.some((fault) => strikes(fault, holder, at)))
    .map(({ at }) => at);
}

function strikes({ reach, from, to }: StruckFault, holder: string, at: number): boolean {
  return reach.of === 'instances' && reach.instances.includes(holder) && from <= at + CALL_US && to >= at;
}
