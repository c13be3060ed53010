import { ClockMap } from '../../src/checker/clock-map.ts';
import { databaseTerms } from '../../src/checker/database-terms.ts';
import type { Belief, DatabaseTerm, FencedWrite, LeaseChange, StruckFault } from '../../src/checker/history.ts';

/** Milliseconds read better than the checker's microseconds. */
const US = 1_000;

/** A belief of `instance` in role `r`, first seen and last seen by looks that took `looking` ms. */
export function belief(instance: string, token: number, [first, last]: readonly [number, number], looking = 0): Belief {
  const span = (at: number) => ({ from: at * US, to: (at + looking) * US });
  return { instance, role: 'r', token, first: span(first), last: span(last) };
}

export interface ChangeOptions {
  readonly holder: string | null;
  readonly token: number;
  readonly at: number;
  readonly expiresAt?: number;
  readonly acquiredAt?: number;
}

export function change({ holder, token, at, expiresAt = 0, acquiredAt = at }: ChangeOptions): LeaseChange {
  return { role: 'r', holder, token, at: at * US, acquiredAt: acquiredAt * US, expiresAt: expiresAt * US };
}

/** Terms of role `r`: `[holder, token, acquired, until]`, in milliseconds. */
export function terms(...rows: readonly (readonly [string, number, number, number])[]): Map<string, DatabaseTerm[]> {
  return databaseTerms(rows.map(([holder, token, at, expiresAt]) => change({ holder, token, at, expiresAt })));
}

export function write(holder: string, token: number, [writtenAt, committedAt]: readonly [number, number]): FencedWrite {
  return { role: 'r', token, holder, writtenAt: writtenAt * US, committedAt: committedAt * US, late: false };
}

export function fault(reach: StruckFault['reach'], [from, to]: readonly [number, number]): StruckFault {
  return { kind: 'test', reach, from: from * US, to: to * US };
}

/** The database's clock and the monotonic one agree, as far as a look that takes `width` ms can tell. */
export function sameClock(width = 0): ClockMap {
  return new ClockMap([{ from: 0, to: width * US, database: 0 }]);
}
