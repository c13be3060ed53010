import type { Violation } from '../../../lab/src/checker/history.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import { findHalfDone } from '../checker/bookings.ts';
import type { Lease, LeaseEnd, RowLife } from '../checker/history.ts';
import { findLateLooks } from '../checker/late-looks.ts';
import { ROW_CHECKS } from '../checker/row-life.ts';
import { judgeTakeovers } from '../checker/takeovers.ts';
import { judgeTold, keyOf } from '../checker/told.ts';
import { LEASE_MS, POLL_MS } from '../table.ts';
import type { Evidence } from './evidence.ts';

const GRACE_MS = 1_000;
/** Of the strikes that delete rows: so many find one under work. */
const FEWEST_REMOVALS = 3;

export interface Judgement {
  readonly figures: readonly Figure[];
  readonly violations: readonly Violation[];
}

/** What the lab promises, with what it found. */
export function judge(evidence: Evidence): Judgement {
  const { lives, leases, logs, clock, faults, bookings } = evidence;
  const byClaim = new Map(leases.map((lease) => [keyOf(lease.row, lease.token), lease]));
  const told = judgeTold(logs.told, byClaim);
  const halfDone = findHalfDone(bookings, byClaim, logs.booked);
  const lateLooks = findLateLooks(logs.looks, byClaim, clock);
  const takeovers = judgeTakeovers({ leases, faults, clock });
  const lost = findLost(evidence);
  const stuck = lives.filter(({ end }) => end === 'live').map(stuckRow);
  const deadlocks = countOf(evidence.logs.refused, '40P01') + (evidence.serverLog.match(/deadlock detected/g)?.length ?? 0);
  return {
    figures: [
      none('rowsLost', lost),
      none('rowsStuck', stuck),
      ...ROW_CHECKS.map((check) =>
        none(
          check,
          evidence.violations.filter((one) => one.check === check),
        ),
      ),
      none('doneToldButNotWritten', told.doneNotWritten),
      none('writtenButToldLost', told.writtenToldLost),
      none('lostToldForNothing', told.lostForNothing),
      none('goneToldButThere', told.goneButThere),
      none('transactionsHalfDone', halfDone),
      none('workedOnAfterTakeover', lateLooks),
      figure('deadlocks', deadlocks, '', '= 0'),
      figure('worstTakeover', takeovers.worstMs, 'ms', `<= ${LEASE_MS + POLL_MS + GRACE_MS}`),
      figure('worstTakeoverInAll', takeovers.worstInAllMs, 'ms'),
      figure('takeovers', takeovers.count, '', '>= 1'),
      ...countsOf(evidence, told.freedToldLost),
    ],
    violations: [
      ...lost,
      ...evidence.violations,
      ...told.doneNotWritten,
      ...told.writtenToldLost,
      ...told.lostForNothing,
      ...told.goneButThere,
      ...halfDone,
      ...lateLooks,
      // The last: they may be thousands.
      ...stuck,
    ],
  };
}

function none(name: string, violations: readonly Violation[]): Figure {
  return figure(name, violations.length, '', '= 0');
}

/** Inserted, and neither there nor deleted by the lab. */
function findLost({ lives, present, removed }: Evidence): Violation[] {
  const isThere = ({ row, end }: RowLife): boolean => (end === 'deleted' ? removed.has(row) : present.has(row));
  return lives
    .filter((life) => !isThere(life))
    .map(({ row, end }) => ({ check: 'row lost', what: `row ${row}, ${end}, is not there` }));
}

function stuckRow({ row, leases }: RowLife): Violation {
  const last = leases.at(-1);
  const how = last === undefined ? 'was never claimed' : `was last claimed by ${last.by}: ${last.end}`;
  return { check: 'row stuck', what: `row ${row} is neither finished nor buried; it ${how}` };
}

function countsOf({ lives, leases, logs, bookings, removed, faults }: Evidence, freedToldLost: number): Figure[] {
  const removals = faults.filter(({ kind }) => kind === 'removeRows').length;
  const ended = (...ends: LeaseEnd[]): number => leases.filter(({ end }) => ends.includes(end)).length;
  const lives2 = (end: RowLife['end']): number => lives.filter((life) => life.end === end).length;
  const fates = (fate: string): number => logs.told.filter((one) => one.fate === fate).length;
  return [
    figure('rows', lives.length, '', '>= 1'),
    figure('rowsFinished', lives2('finished'), '', '>= 1'),
    figure('rowsBuried', lives2('buried'), '', '>= 1'),
    figure('rowsDeletedUnderWork', removed.size, '', removals < FEWEST_REMOVALS ? null : '>= 1'),
    figure('rowsPerSecond', perSecond(leases), '/s'),
    figure('claims', logs.claims.length, '', '>= 1'),
    figure('rowsClaimed', leases.length, '', '>= 1'),
    figure('handlers', logs.handlers, ''),
    figure('retried', ended('retried'), '', '>= 1'),
    figure('released', ended('released'), '', '>= 1'),
    figure('takenOver', ended('taken', 'buriedByClaim'), '', '>= 1'),
    figure('booked', bookings.length, '', '>= 1'),
    figure('bookingsUnknown', logs.booked.filter(({ end }) => end === 'unknown').length, ''),
    figure('toldLost', fates('lost'), ''),
    figure('toldGone', fates('gone'), ''),
    figure('freedButToldLost', freedToldLost, ''),
    figure('leftByStop', logs.leftByStop, ''),
  ];
}

/** Of the rows that were finished, from the first claim to the last end. */
function perSecond(leases: readonly Lease[]): number {
  const finished = leases.filter(({ end }) => end === 'finished');
  const times = finished.map(({ endedAt }) => endedAt);
  const from = leases.reduce((first, lease) => Math.min(first, lease.from), Number.POSITIVE_INFINITY);
  const to = times.reduce((last, time) => Math.max(last, time), 0);
  return finished.length / Math.max(1, (to - from) / 1_000_000);
}

function countOf(refused: ReadonlyMap<string, number>, code: string): number {
  return [...refused].filter(([key]) => key.endsWith(code)).reduce((sum, [, count]) => sum + count, 0);
}
