import { LeaseholdError, showValue } from './errors.ts';

/** A length of time: milliseconds as a number, or a string with a unit: `15_000`, `'15s'`, `'2m'`, `'1.5h'`. */
export type Duration = number | `${number}${DurationUnit}`;

export type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd';

const UNIT_MS: Readonly<Record<DurationUnit, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** The longest that Leasehold accepts. A longer one is a mistake of units far more often than a wish. */
const LONGEST_MS = 366 * UNIT_MS.d;

export interface DurationBounds {
  /** Smallest value accepted, in milliseconds. @default 1 */
  readonly min?: number;
  /** Largest value accepted, in milliseconds. @default 366 days */
  readonly max?: number;
}

/**
 * Reads a duration as whole milliseconds.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION when it is anything else, or out of bounds.
 */
export function resolveDuration(option: string, value: unknown, bounds: DurationBounds = {}): number {
  const ms = typeof value === 'string' ? parseText(value) : value;
  const { min = 1, max = LONGEST_MS } = bounds;
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < min || ms > max) {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_DURATION',
      `${option} is ${showValue(value)}; give milliseconds as a number or a string with a unit (ms, s, m, h, d), ` +
        `such as 15_000 or '15s', from ${showDuration(min)} to ${showDuration(max)}.`,
      { option },
    );
  }
  return Math.round(ms);
}

/** In the largest unit that shows it whole. */
function showDuration(ms: number): string {
  const units = Object.entries(UNIT_MS).toReversed();
  const [unit, size] = units.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

function parseText(text: string): number {
  const match = FORM.exec(text);
  return match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2] as DurationUnit];
}
