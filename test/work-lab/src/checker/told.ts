import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Lease, LeaseEnd, Told } from './history.ts';

export interface ToldVerdict {
  readonly doneNotWritten: readonly Violation[];
  readonly writtenToldLost: readonly Violation[];
  /** Nobody else had the row, and it was not settled before. */
  readonly lostForNothing: readonly Violation[];
  readonly goneButThere: readonly Violation[];
  /** Freed by a statement whose answer was lost: the row tells nothing of who freed it. */
  readonly freedToldLost: number;
}

const WRITTEN: Readonly<Record<Told['outcome'], LeaseEnd>> = {
  done: 'finished',
  bury: 'buried',
  retry: 'retried',
  release: 'released',
};

export function keyOf(row: string, claim: string): string {
  return `${row} ${claim}`;
}

/** Compares what workers were told of their rows with what the database knows. */
export function judgeTold(told: readonly Told[], leases: ReadonlyMap<string, Lease>): ToldVerdict {
  const verdict = { doneNotWritten: [], writtenToldLost: [], lostForNothing: [], goneButThere: [], freedToldLost: 0 } as {
    -readonly [K in keyof ToldVerdict]: K extends 'freedToldLost' ? number : Violation[];
  };
  for (const one of told) {
    const end = leases.get(keyOf(one.row, one.claim))?.end;
    const isWritten = end === WRITTEN[one.outcome];
    const isFinal = one.outcome === 'done' || one.outcome === 'bury';
    if (one.fate === 'done' && !isWritten) verdict.doneNotWritten.push(violation('done told, not written', one, end));
    if (one.fate === 'gone' && end !== 'deleted') verdict.goneButThere.push(violation('gone told, still there', one, end));
    if (one.fate !== 'lost') continue;
    if (isWritten && isFinal) verdict.writtenToldLost.push(violation('written, lost told', one, end));
    else if (isWritten) verdict.freedToldLost += 1;
    else if (end === 'open') verdict.lostForNothing.push(violation('lost told, nobody had it', one, end));
  }
  return verdict;
}

function violation(check: string, { row, claim, by, outcome, fate }: Told, end: LeaseEnd | undefined): Violation {
  const how = end === undefined ? 'never had the row' : `ended as ${end}`;
  return { check, what: `row ${row}: ${by} was told ${fate} for ${outcome}, and its claim ${claim} ${how}` };
}
