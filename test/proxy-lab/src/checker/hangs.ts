import { ms } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Outcome } from '../client/outcome.ts';
import type { Span } from '../stalls.ts';

export interface HangRules {
  /** The longest that a head may take: to connect, and to wait for it. In milliseconds. */
  readonly headMs: number;
  /** When each instance did not run: its own clients wait for it, and it is nobody's fault. By instance. */
  readonly stalls: ReadonlyMap<string, readonly Span[]>;
  /** When the clients did not. */
  readonly ownStalls: readonly Span[];
}

const GRACE_US = 1_000_000;

/**
 * Every request is over within what is configured and a second: its head within the bounds of the proxy, its body within
 * the time that the holder takes by its own plan. While the entry did not run nobody could answer, and while a holder did
 * not its body rests, as bodies may.
 */
export function findHangs(outcomes: readonly Outcome[], { headMs, stalls, ownStalls }: HangRules): Violation[] {
  const everyStall = merge([...stalls.values(), ownStalls].flat());
  const ofEntry = new Map([...stalls].map(([entry, spans]) => [entry, merge([...spans, ...ownStalls])]));
  const own = merge(ownStalls);
  return outcomes.flatMap((outcome) => {
    const { id, kind, entry, startedAt, headAt, endedAt, plannedMs } = outcome;
    if (kind === 'hanging') return [violation(`${id} through ${entry} was given up`)];
    if (kind === 'left') return [];
    const head: Span = { from: startedAt, to: headAt ?? endedAt };
    if (length(head) - overlap(head, ofEntry.get(entry) ?? own) > (headMs + plannedMs) * 1_000 + GRACE_US) {
      return [violation(`${id} through ${entry} had no head for ${ms(length(head))}`)];
    }
    const body: Span = { from: head.to, to: endedAt };
    if (length(body) - overlap(body, everyStall) <= plannedMs * 1_000 + GRACE_US) return [];
    return [violation(`${id} through ${entry} had no end of its body for ${ms(length(body))}`)];
  });
}

function violation(what: string): Violation {
  return { check: 'hang', what };
}

function length({ from, to }: Span): number {
  return to - from;
}

/** In their order, those that overlap made one: none of the time may be counted twice. */
function merge(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else merged.push(span);
  }
  return merged;
}

function overlap(one: Span, others: readonly Span[]): number {
  return others.reduce((sum, other) => sum + Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from)), 0);
}
