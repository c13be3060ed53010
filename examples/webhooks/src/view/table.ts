import { bar, copyColour, dim, pad, red } from '../../../run/src/show/style.ts';
import type { Visit } from '../receiver/log.ts';
import type { Receiver } from '../receiver/receiver.ts';
import { DELIVERIES } from '../show/application.ts';
import type { Ledger } from '../show/ledger.ts';
import { type Member, totalOf, type Workers } from '../show/workers.ts';

/** What is shown, read anew each time. */
export interface Board {
  readonly postgres: string;
  readonly workers: Workers;
  readonly ledger: Ledger;
  readonly receiver: Receiver;
}

const BAR_WIDTH = 40;
const SECOND_MS = 1_000;
const LAST_ANSWERS = 6;
const STATES = ['due', 'leased', 'waiting', 'done', 'dead'] as const;

/** The workers, the rows by their state, and the last answers of the receiver. */
export function drawTable({ workers, ledger, receiver }: Board): string[] {
  const { visits } = receiver.log;
  const perSecond = receiver.log.since(performance.now() - SECOND_MS);
  return [
    dim(row(['worker', 'running', 'ahead', 'done', 'retried', 'buried', 'claims', 'empty'])),
    ...workers.members.map(worker),
    '',
    ...STATES.map((state) => count(state, ledger.tally[state])),
    '',
    dim(`${perSecond} requests in the last second, ${visits.length} in all; the last answers:`),
    ...visits.slice(-LAST_ANSWERS).map(answer),
  ];
}

function row([label = '', ...cells]: readonly string[]): string {
  return [pad(label, 6), ...cells.map((cell) => cell.padStart(7))].join('  ');
}

function worker(member: Member): string {
  const { label, copy, stats } = member;
  const now = stats.at(-1);
  const cells = row([
    copyColour(label.at(-1) ?? '')(label),
    String(copy.isRunning ? (now?.running ?? 0) : 0),
    String(copy.isRunning ? (now?.waiting ?? 0) : 0),
    ...(['done', 'retried', 'buried', 'claims', 'emptyClaims'] as const).map((name) => String(totalOf(member, name))),
  ]);
  return copy.isRunning || copy.ending === '' ? cells : `${cells}  ${red(`gone (${copy.ending})`)}`;
}

function count(state: (typeof STATES)[number], value: number): string {
  return `${pad(state, 8)} ${bar(value / DELIVERIES, BAR_WIDTH)} ${String(value).padStart(4)}`;
}

function answer({ key, attempt, by, answer: text, ok }: Visit): string {
  const words = `${key.slice(0, 8)}  attempt ${String(attempt).padStart(2)}  ${copyColour(by.at(-1) ?? '')(by)}  `;
  return words + (ok ? text : red(text));
}
