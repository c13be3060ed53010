import type { Violation } from '../../../lab/src/checker/history.ts';
import { ms } from '../../../lab/src/checker/group.ts';
import { ASKED, backoffMs, LEASE_MS, MOST_ATTEMPTS } from '../table.ts';
import type { Lease, LeaseEnd, RowLife, Version } from './history.ts';

/** What is promised of the versions of one row. */
export const ROW_CHECKS = [
  'finishedTwice',
  'finishedByStaleWorker',
  'twoLiveLeases',
  'claimedTooEarly',
  'attemptsWrong',
  'tokensReused',
  'leasesShortened',
  'changesLost',
] as const;
type RowCheck = (typeof ROW_CHECKS)[number];

export interface RowVerdict {
  readonly life: RowLife;
  readonly violations: readonly Violation[];
}

/** Goes through the versions of a row, in the order in which they came about, and tells what must not have been among them. */
export function judgeRow(versions: readonly Version[]): RowVerdict {
  const [first] = versions;
  if (first === undefined) throw new Error('A row has at least one version.');
  const fold = new RowFold(first);
  for (const version of versions.slice(1)) fold.step(version);
  return fold.verdict();
}

class RowFold {
  readonly #leases: Lease[] = [];
  readonly #violations: Violation[] = [];
  #before: Version;

  constructor(first: Version) {
    this.#before = first;
  }

  verdict(): RowVerdict {
    const { row } = this.#before;
    return { life: { row, leases: this.#leases, end: endOf(this.#before) }, violations: this.#violations };
  }

  step(next: Version): void {
    const before = this.#before;
    if (next.amount < before.amount) this.#fail('changesLost', `its amount fell from ${before.amount} to ${next.amount}`, next);
    if (next.op === 'DELETE') this.#end('deleted', next);
    else if (isOver(before)) this.#afterTheEnd(next);
    else if (isOver(next)) this.#finish(next);
    else if (isLeased(next)) this.#leased(next);
    else if (next.token !== before.token || next.until !== before.until) this.#freed(next);
    this.#before = next;
  }

  #afterTheEnd(next: Version): void {
    const columns = ['token', 'until', 'attempts', 'finished', 'buried', 'writtenBy', 'error'] as const;
    const changed = columns.filter((column) => next[column] !== this.#before[column]);
    if (changed.length > 0) this.#fail('finishedTwice', `was over, and then ${changed.join(', ')} changed`, next);
  }

  #finish(next: Version): void {
    const before = this.#before;
    if (next.buried !== null && next.token !== before.token) return this.#buryByClaim(next);
    if (!isLeased(before) || next.token !== before.token) this.#fail('finishedByStaleWorker', 'finished without a lease', next);
    this.#requireOwn(next);
    this.#requireAttempts(next, before.attempts);
    this.#end(next.buried === null ? 'finished' : 'buried', next);
  }

  /** The claim found that no attempt is left. */
  #buryByClaim(next: Version): void {
    const before = this.#before;
    const due = before.until ?? before.created;
    if (next.at < due)
      this.#fail(isLeased(before) ? 'twoLiveLeases' : 'claimedTooEarly', `buried ${ms(due - next.at)} before it was due`, next);
    if (before.attempts < MOST_ATTEMPTS) this.#fail('attemptsWrong', `buried by a claim after ${before.attempts} attempts`, next);
    this.#requireAttempts(next, before.attempts);
    this.#end('buriedByClaim', next);
  }

  #leased(next: Version): void {
    const before = this.#before;
    if (!isLeased(before) || next.token !== before.token) return this.#claimed(next);
    const lease = this.#leases.at(-1);
    if (next.attempts !== before.attempts) this.#fail('tokensReused', 'was claimed anew with the token that it bore', next);
    if (next.until === before.until || lease === undefined) return;
    if (next.by !== lease.by) this.#fail('finishedByStaleWorker', `the lease of ${lease.by} was prolonged by another`, next);
    if ((next.until ?? 0) < (before.until ?? 0)) this.#fail('leasesShortened', 'a renewal made the lease shorter', next);
    lease.until = next.until ?? lease.until;
  }

  #claimed(next: Version): void {
    const before = this.#before;
    const due = before.until ?? before.created;
    const until = next.until ?? 0;
    // Exact: the witness itself comes a little later than the stamp.
    const from = until - LEASE_MS * 1_000;
    if (from < due) {
      const check = isLeased(before) ? 'twoLiveLeases' : 'claimedTooEarly';
      this.#fail(
        check,
        `claimed ${ms(due - from)} before ${isLeased(before) ? 'the lease before was over' : 'it was due'}`,
        next,
      );
    }
    if (this.#leases.some(({ token }) => token === next.token))
      this.#fail('tokensReused', 'a second claim of the row bears one token', next);
    this.#requireAttempts(next, before.attempts + 1);
    this.#end('taken', next);
    this.#leases.push({
      row: next.row,
      token: next.token ?? '',
      by: next.by,
      from,
      due,
      until,
      end: 'open',
      endedAt: Number.POSITIVE_INFINITY,
      endXid: '',
      endVia: null,
    });
  }

  #freed(next: Version): void {
    const before = this.#before;
    if (!isLeased(before)) return this.#fail('finishedByStaleWorker', 'was freed though nobody had it', next);
    if (next.token !== null) return this.#fail('finishedByStaleWorker', 'was freed and bears a token', next);
    const isRetry = next.until !== null;
    this.#requireOwn(next);
    this.#requireAttempts(next, isRetry ? before.attempts : before.attempts - 1);
    if (isRetry) this.#requireDelay(next);
    this.#end(isRetry ? 'retried' : 'released', next);
  }

  /** By the process that had claimed it, and under the token that is on the row, where the handler named its own. */
  #requireOwn(next: Version): void {
    const { token, error, writtenBy } = this.#before;
    const lease = this.#leases.at(-1);
    if (lease !== undefined && next.by !== lease.by) {
      this.#fail('finishedByStaleWorker', `was settled by ${next.by}, while ${lease.by} had it`, next);
    }
    const told = next.writtenBy !== writtenBy ? next.writtenBy : next.error === error ? null : claimIn(next.error);
    if (told !== null && told !== token)
      this.#fail('finishedByStaleWorker', `was settled under ${told} while it bore ${token}`, next);
  }

  #requireAttempts(next: Version, expected: number): void {
    if (next.attempts !== expected)
      this.#fail('attemptsWrong', `has ${next.attempts} attempts where ${expected} were made`, next);
  }

  #requireDelay(next: Version): void {
    const askedMs = next.error === ASKED ? (next.askedMs ?? 0) : backoffMs(next.attempts);
    const early = next.began + askedMs * 1_000 - (next.until ?? 0);
    if (early > 0) this.#fail('claimedTooEarly', `is due ${ms(early)} before the ${askedMs} ms that were asked for`, next);
  }

  #end(end: LeaseEnd, next: Version): void {
    const lease = this.#leases.at(-1);
    if (lease?.end !== 'open') return;
    Object.assign(lease, { end, endedAt: next.at, endXid: next.xid, endVia: next.via });
  }

  #fail(check: RowCheck, what: string, { row, at, by }: Version): void {
    this.#violations.push({ check, what: `row ${row} (${by}, ${at}): ${what}` });
  }
}

function isLeased({ token, until, ...version }: Version): boolean {
  return token !== null && until !== null && !isOver(version);
}

function isOver({ finished, buried }: Pick<Version, 'finished' | 'buried'>): boolean {
  return finished !== null || buried !== null;
}

function endOf({ op, finished, buried }: Version): RowLife['end'] {
  if (op === 'DELETE') return 'deleted';
  return finished !== null ? 'finished' : buried !== null ? 'buried' : 'live';
}

function claimIn(error: string | null): string | null {
  return /under ([0-9a-f-]{36})/.exec(error ?? '')?.[1] ?? null;
}
