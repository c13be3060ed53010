import { ladder } from '@leasehold/core/work';
import { bold, copyColour, dim } from '../../../run/src/show/style.ts';
import { STEPS } from '../deliver.ts';
import type { VisitLog } from '../receiver/log.ts';
import { type Wait, waitsOf } from '../receiver/waits.ts';

/** The ladder of `deliver.ts`, in milliseconds. */
export const STEPS_MS: readonly number[] = STEPS.map((_step, index) => ladder(index + 1, STEPS));

/** One delivery, request by request: what it was answered, what it had to wait, and what it did wait. */
export function drawLadder(log: VisitLog, key: string): string[] {
  return [
    `${bold(`delivery ${key.slice(0, 8)}`)} ${dim('took the most requests:')}`,
    dim(row(['attempt', 'worker', 'asked', 'ladder', 'waited', 'answer'])),
    ...waitsOf(log, key, STEPS_MS).map((wait) => line(wait, log.unheard.has(wait.visit))),
  ];
}

function line({ visit, waitedMs, stepMs, askedMs }: Wait, isUnheard: boolean): string {
  const { attempt, by, answer, ok } = visit;
  const colour = copyColour(by.at(-1) ?? 'A');
  const step = ok ? '' : show(stepMs);
  return row([
    String(attempt),
    colour(by),
    show(askedMs),
    step,
    show(waitedMs),
    isUnheard ? `${answer} (heard by nobody)` : answer,
  ]);
}

function show(ms: number | null): string {
  return ms === null ? '' : `${(ms / 1_000).toFixed(2)} s`;
}

function row([attempt = '', worker = '', ...rest]: readonly string[]): string {
  const answer = rest.at(-1) ?? '';
  const times = rest.slice(0, -1).map((time) => time.padStart(7));
  return [attempt.padStart(7), worker.padEnd(6), ...times, answer].join('  ');
}
