import { ms } from '../../../lab/src/checker/group.ts';
import type { Violation } from '../../../lab/src/checker/history.ts';
import type { Epoch, Handover } from './history.ts';
import { isEven, leastMoves } from '../../../support/least-moves.ts';

export interface BalanceOptions {
  readonly roles: readonly string[];
  readonly heartbeatMs: number;
  /** An epoch that lasts for as many heartbeats has to have come to be even. */
  readonly mostHeartbeats: number;
}

export interface BalanceVerdict {
  /** Of the epoch that took the longest to be even, from its beginning; of those that had the time. */
  readonly worstHeartbeats: number;
  /** Epochs that were even at their end. */
  readonly settled: number;
  readonly moves: number;
  readonly leastMoves: number;
  readonly movedTwice: readonly Violation[];
  readonly uneven: readonly Violation[];
}

interface EpochVerdict {
  readonly heartbeats: number | null;
  readonly isSettled: boolean;
  readonly moves: number;
  readonly least: number;
  readonly movedTwice: readonly Violation[];
}

/**
 * How even it was, how soon after each change of members, and by how many moves. What was necessary in an epoch is what was
 * needed at its beginning and no more at its end, so that one that is cut short by the next owes nothing for what it left; and
 * what ran out meanwhile. What was given back without need makes nothing necessary.
 */
export function judgeBalance(epochs: readonly Epoch[], handovers: readonly Handover[], options: BalanceOptions): BalanceVerdict {
  const walk = new Walk(handovers, options);
  walk.goTo(epochs[0]?.from ?? 0);
  const verdicts = epochs.map((epoch) => walk.through(epoch));
  const times = verdicts.map(({ heartbeats }) => heartbeats ?? 0);
  return {
    worstHeartbeats: Math.max(0, ...times),
    settled: verdicts.filter(({ isSettled }) => isSettled).length,
    moves: sum(verdicts.map(({ moves }) => moves)),
    leastMoves: sum(verdicts.map(({ least }) => least)),
    movedTwice: verdicts.flatMap(({ movedTwice }) => movedTwice),
    uneven: epochs.flatMap((epoch, index) => uneven(epoch, verdicts[index]?.heartbeats ?? null, options)),
  };
}

/** What an instance that goes gives back may come shortly before its row says that it goes, and belongs to that change. */
const EDGE_US = 250_000;

/** Goes through the handovers once, and knows at each moment who holds what. */
class Walk {
  readonly #handovers: readonly Handover[];
  readonly #options: BalanceOptions;
  readonly #holdings = new Map<string, string>();
  #next = 0;

  constructor(handovers: readonly Handover[], options: BalanceOptions) {
    this.#handovers = handovers;
    this.#options = options;
  }

  goTo(time: number, visit: (handover: Handover) => void = () => {}): void {
    for (; ; this.#next += 1) {
      const handover = this.#handovers[this.#next];
      if (handover === undefined || handover.at >= time) return;
      const { kind, role, holder } = handover;
      if (kind === 'taken') this.#holdings.set(role, holder);
      else if (this.#holdings.get(role) === holder) this.#holdings.delete(role);
      visit(handover);
    }
  }

  through({ from, to, members }: Epoch): EpochVerdict {
    const { roles, heartbeatMs, mostHeartbeats } = this.#options;
    const need = (): number => leastMoves(this.#holdings, members, roles);
    const isEvenNow = (): boolean => members.length > 0 && isEven(this.#holdings, members, roles);
    const before = need();
    const moved = new Map<string, number>();
    /** Since its lease ran out last: a holder that was frozen is gone, though its row may say otherwise for a moment. */
    const movedAtWill = new Map<string, number>();
    let evenAt = isEvenNow() ? from : null;
    let since = from;
    let orphaned = 0;
    let needed = before;
    this.goTo(to, ({ kind, role, at }) => {
      if (kind === 'taken') for (const counts of [moved, movedAtWill]) counts.set(role, (counts.get(role) ?? 0) + 1);
      if (kind === 'expired') movedAtWill.delete(role);
      if (kind === 'expired') orphaned += Math.max(0, need() - needed);
      needed = need();
      if (kind !== 'taken' && at > to - EDGE_US) return;
      if (kind === 'expired') since = at;
      evenAt = isEvenNow() ? (evenAt ?? at) : null;
    });
    const beats = (until: number): number => (until - since) / 1_000 / heartbeatMs;
    const isDue = members.length > 0 && (evenAt !== null || beats(to) >= mostHeartbeats);
    return {
      heartbeats: isDue ? Math.max(0, beats(evenAt ?? to)) : null,
      isSettled: evenAt !== null,
      moves: sum([...moved.values()]),
      least: Math.max(0, before + orphaned - needed),
      movedTwice: [...movedAtWill].filter(([, times]) => times > 1).map(([role, times]) => twice(role, times, from)),
    };
  }
}

function twice(role: string, times: number, from: number): Violation {
  return { check: 'moved twice', what: `${role} moved ${times} times after the change of members at ${from}` };
}

function uneven(epoch: Epoch, heartbeats: number | null, { mostHeartbeats, heartbeatMs }: BalanceOptions): Violation[] {
  if (heartbeats === null || heartbeats <= mostHeartbeats) return [];
  const what = `${epoch.members.length} members from ${epoch.from} on were not even for ${ms(heartbeats * heartbeatMs * 1_000)}`;
  return [{ check: 'uneven', what }];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
