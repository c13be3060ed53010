import { exponential, ladder, type RetryAfter, retryAfterMs } from '@leasehold/core/work';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';

const none = { jitter: 0 };
const policy = fc.record({
  base: fc.integer({ min: 1, max: 100_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  max: fc.oneof(fc.constant(100_000), fc.integer({ min: 100_000, max: 100_000_000 })),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
});
const attempts = fc.integer({ min: 1, max: 2_000 });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const floor = fc.integer({ min: 0, max: 600_000 });

describe('exponential', () => {
  it('starts at the base with the first failure, and grows by the factor', () => {
    const delays = [1, 2, 3, 4].map((attempt) => exponential(attempt, { base: '1m', factor: 3, max: '1d', ...none }));
    expect(delays).toEqual([60_000, 180_000, 540_000, 1_620_000]);
  });

  it('never undercuts what the other server asked for', () => {
    fc.assert(
      fc.property(policy, attempts, chance, floor, (options, attempt, random, seconds) => {
        const ms = exponential(attempt, { ...options, random: () => random, retryAfter: String(seconds) });
        expect(ms).toBeGreaterThanOrEqual(seconds * 1_000);
      }),
    );
  });

  it('stays within its maximum, unless the other server asked for more; then above that by its jitter alone', () => {
    fc.assert(
      fc.property(policy, attempts, chance, fc.option(floor), (options, attempt, random, seconds) => {
        const retryAfter = seconds === null ? null : { seconds };
        const ms = exponential(attempt, { ...options, random: () => random, retryAfter });
        expect(ms).toBeLessThanOrEqual(Math.max(options.max, (seconds ?? 0) * 1_000 + options.jitter * options.max));
        if (seconds === null) expect(ms).toBeLessThanOrEqual(options.max);
      }),
    );
  });

  it('never falls with the attempts while there is no jitter, and is whole milliseconds, at least 1', () => {
    fc.assert(
      fc.property(policy, attempts, ({ base, factor, max }, attempt) => {
        const options = { base, factor, max, jitter: 0 };
        const [one, next] = [exponential(attempt, options), exponential(attempt + 1, options)];
        expect(next).toBeGreaterThanOrEqual(one);
        expect(Number.isInteger(one) && one >= 1).toBe(true);
      }),
    );
  });

  it('is never no delay at all, however small its policy', () => {
    expect(exponential(1, { base: 1, max: 1, jitter: 1, random: () => 0.999 })).toBe(1);
  });

  it('spreads the rows at its maximum too', () => {
    const delays = [0, 0.5, 0.999].map((random) => exponential(50, { max: '1h', jitter: 0.5, random: () => random }));
    expect(delays).toEqual([2_400_000, 3_000_000, 3_598_800]);
  });

  it('spreads what the other server asked of all rows at once, upwards', () => {
    const delays = [0, 0.5].map((random) => exponential(1, { base: '10s', jitter: 0.5, random: () => random, retryAfter: '60' }));
    expect(delays).toEqual([60_000, 62_500]);
  });

  it.for([
    { base: 0 },
    { base: -1 },
    { base: '0s' },
    { base: '15' },
    { base: Number.NaN },
    { factor: 0.9 },
    { factor: Number.POSITIVE_INFINITY },
    { jitter: -0.1 },
    { jitter: 1.1 },
    { base: '2m', max: '1m' },
    { retryAfter: 30 },
    { bace: '1s' },
  ])('refuses the policy %o', (options) => {
    expect(() => exponential(1, options as object)).toThrow(/LEASEHOLD|give|is no option/);
  });

  it.for([0, -1, 1.5, Number.NaN, '3', null])('refuses %o for an attempt', (attempt) => {
    expect(() => exponential(attempt as number)).toThrow(/^attempt is .* 1 for the first failure/);
  });
});

describe('ladder', () => {
  it('gives the step of the failure, and the last one ever after', () => {
    const steps = ['1m', '15m', '1h'] as const;
    expect([1, 2, 3, 4, 99].map((attempt) => ladder(attempt, steps))).toEqual([60_000, 900_000, 3_600_000, 3_600_000, 3_600_000]);
  });

  it('waits for the other server where that asked for more', () => {
    expect(ladder(1, ['1m'], '120')).toBe(120_000);
    expect(ladder(1, ['1m'], '30')).toBe(60_000);
    expect(ladder(1, ['1m'], 'soon')).toBe(60_000);
  });

  it('refuses to have no step, or one that is no delay', () => {
    expect(() => ladder(1, [])).toThrow(/^steps is an array of 0; give at least one/);
    expect(() => ladder(1, ['1m', 0])).toThrow(/^steps\[1\] is 0/);
  });
});

describe('retryAfterMs', () => {
  const clock = manualClock({ wall: Date.UTC(1994, 10, 6, 8, 49, 0) });
  const read = (value: unknown): number | null => retryAfterMs(value as RetryAfter, { clock });

  it.for([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['0', 0],
    ['1.2345', 1_235],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun Nov 06 08:49:37 1994', 37_000],
    ['Sat, 05 Nov 1994 08:49:37 GMT', 0],
    [new Date(Date.UTC(1994, 10, 6, 8, 50)), 60_000],
    [{ seconds: 1.5 }, 1_500],
    [{ seconds: -5 }, 0],
    [{ seconds: Number.POSITIVE_INFINITY }, 604_800_000],
    [new Headers({ 'retry-after': '3' }), 3_000],
    [new Response(null, { headers: { 'Retry-After': '3' } }), 3_000],
    [{ headers: { 'Retry-After': '3' } }, 3_000],
    [{ 'retry-after': ['3', '9'] }, 3_000],
    ['99999999999999999999999', 604_800_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 604_800_000],
  ] as const)('reads %o as %d ms', ([value, ms]) => {
    expect(read(value)).toBe(ms);
  });

  it.for([
    null,
    undefined,
    '',
    '-5',
    '+5',
    '5s',
    '1e3',
    '0x10',
    'soon',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37 EST',
    new Date(Number.NaN),
    { seconds: Number.NaN },
    { seconds: '5' },
    {},
    [],
    { headers: null },
    new Headers(),
    true,
  ])('takes nothing from %o', (value) => {
    expect(read(value)).toBeNull();
  });

  it('measures a date by the clock of the server that sent it, where that is told', () => {
    const headers = { date: 'Sun, 06 Nov 1994 06:00:00 GMT', 'retry-after': 'Sun, 06 Nov 1994 06:00:30 GMT' };
    expect(read({ headers })).toBe(30_000);
    expect(read({ headers: { ...headers, date: 'nonsense' } })).toBe(0);
  });

  it('takes a year of two digits for the nearest one that is not far ahead', () => {
    const inYear = (year: number) => ({ clock: manualClock({ wall: Date.UTC(year, 0, 1) }), max: '366d' as const });
    expect(retryAfterMs('Saturday, 02-Jan-99 00:00:00 GMT', inYear(2026))).toBe(0);
    expect(retryAfterMs('Friday, 02-Jan-26 00:00:00 GMT', inYear(2026))).toBe(86_400_000);
    expect(retryAfterMs('Friday, 02-Jan-70 00:00:00 GMT', inYear(2026))).toBe(31_622_400_000);
  });

  it('is a finite number of whole milliseconds, at least 0, or null, whatever the text', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.date().map((date) => String(date)),
      fc.integer().map(String),
    );
    fc.assert(
      fc.property(text, (value) => {
        const ms = read(value);
        expect(ms === null || (Number.isInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });

  it('refuses a number alone, which could be seconds or milliseconds', () => {
    expect(() => read(30)).toThrow(/^retryAfter is 30; say what it counts, as in \{ seconds: 30 \}/);
  });
});
