import type { Lease, Version } from '../../src/checker/history.ts';
import { LEASE_MS } from '../../src/table.ts';

/** Times are in milliseconds here, and microseconds for the checkers. */
const US = 1_000;
const FREE = { token: null, until: null, finished: null, buried: null, writtenBy: null, via: null, askedMs: null, error: null };

/** The first claim, and the second. */
export const A: string = '00000000-0000-4000-8000-00000000000a';
export const B: string = '00000000-0000-4000-8000-00000000000b';

/** A row that is due from the beginning, and what becomes of it, step by step. */
export class Story {
  readonly versions: Version[];

  constructor(more: Partial<Version> = {}) {
    const times = { at: 0, began: 0, created: 0 };
    this.versions = [{ op: 'INSERT', row: '1', by: 'lab', xid: '1', attempts: 0, amount: 0, ...times, ...FREE, ...more }];
  }

  get last(): Version {
    return this.versions.at(-1) as Version;
  }

  /** Whatever is not told stays as it was. */
  step(at: number, by: string, more: Partial<Version>): this {
    const xid = String(this.versions.length + 1);
    this.versions.push({ ...this.last, op: 'UPDATE', at: at * US, began: at * US, by, xid, ...more });
    return this;
  }

  claim(at: number, token: string, more: Partial<Version> = {}): this {
    const attempts = this.last.attempts + 1;
    return this.step(at, workerOf(token), { token, until: (at + LEASE_MS) * US, attempts, ...more });
  }

  renew(at: number, token: string, more: Partial<Version> = {}): this {
    return this.step(at, workerOf(token), { until: (at + LEASE_MS) * US, ...more });
  }

  finish(at: number, token: string, more: Partial<Version> = {}): this {
    return this.step(at, workerOf(token), { until: null, finished: at * US, writtenBy: token, ...more });
  }

  bury(at: number, token: string, more: Partial<Version> = {}): this {
    return this.step(at, workerOf(token), { until: null, buried: at * US, ...more });
  }

  /** Of a handler that threw. */
  retry(at: number, token: string, { dueAt, ...more }: { readonly dueAt: number } & Partial<Version>): this {
    return this.step(at, workerOf(token), { token: null, until: dueAt * US, error: `Failure: failed under ${token}`, ...more });
  }

  release(at: number, token: string, more: Partial<Version> = {}): this {
    return this.step(at, workerOf(token), { token: null, until: null, attempts: this.last.attempts - 1, ...more });
  }

  remove(at: number): this {
    return this.step(at, 'lab', { op: 'DELETE' });
  }
}

export function workerOf(token: string): string {
  return `worker of ${token.slice(-1)}`;
}

/** A lease of row 1, from and until so many milliseconds, as `A` has it. */
export function lease(from: number, until: number, more: Partial<Lease> = {}): Lease {
  const ended = { end: 'taken', endedAt: until * US, endXid: '2', endVia: null } as const;
  return { row: '1', token: A, by: 'worker of a', from: from * US, due: 0, until: until * US, ...ended, ...more };
}

export function leasesOf(...leases: Lease[]): Map<string, Lease> {
  return new Map(leases.map((one) => [`${one.row} ${one.token}`, one]));
}
