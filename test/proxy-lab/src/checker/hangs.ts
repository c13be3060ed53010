import { ms } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome } from '../client/outcome.ts';
import type { Span } from '../processes/instance-process.ts';

export interface HangRules {
  /** The longest that a head may take: to connect, and to wait for it. In milliseconds. */
  readonly headMs: number;
  /** When each instance was frozen: its own clients wait for it, and it is nobody's fault. By instance. */
  readonly frozen: ReadonlyMap<string, readonly Span[]>;
}

const GRACE_US = 1_000_000;

/**
 * Every request is over within what is configured and a second: its head within the bounds of the proxy, its body within
 * the time that the holder takes by its own plan. While the entry was frozen nobody could answer, and while a holder was
 * frozen its body rests, as bodies may.
 */
export function findHangs(outcomes: readonly Outcome[], { headMs, frozen }: HangRules): Violation[] {
  const everyFreeze = [...frozen.values()].flat();
  return outcomes.flatMap((outcome) => {
    const { id, kind, entry, startedAt, headAt, endedAt, plannedMs } = outcome;
    if (kind === 'hanging') return [violation(`${id} through ${entry} was given up`)];
    if (kind === 'left') return [];
    const head: Span = { from: startedAt, to: headAt ?? endedAt };
    const headLate = length(head) - (headMs + plannedMs) * 1_000 - GRACE_US - overlap(head, frozen.get(entry) ?? []);
    if (headLate > 0) return [violation(`${id} through ${entry} had no head for ${ms(length(head))}`)];
    if (headAt === null) return [];
    const body: Span = { from: headAt, to: endedAt };
    const bodyLate = length(body) - plannedMs * 1_000 - GRACE_US - overlap(body, everyFreeze);
    return bodyLate > 0 ? [violation(`${id} through ${entry} had no end of its body for ${ms(length(body))}`)] : [];
  });
}

function violation(what: string): Violation {
  return { check: 'hang', what };
}

function length({ from, to }: Span): number {
  return to - from;
}

function overlap(one: Span, others: readonly Span[]): number {
  return others.reduce((sum, other) => sum + Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from)), 0);
}
