import { createLeasehold, type Leasehold, type RolePartition } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { manualClock } from '@leasehold/testing';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';

export const SEED = 1;
const COUNT = 256;
const BEAT_MS = 5_000;
/** Looks in each renew interval. */
const LOOKS = 20;
const MOST_BEATS = 50;
const HISTORIES = 10;

interface Change {
  readonly beats: number;
  readonly moves: number;
  /** Of the roles that no instance held any more, and of those that a newcomer lacked: what no balance can do without. */
  readonly least: number;
}

/** Instances on one memory database, in time that is moved by hand: what is counted are heartbeats, not seconds. */
class Fleet {
  readonly #clock = manualClock();
  readonly #database = new MemoryDatabase({ clock: this.#clock });
  readonly #random: () => number;
  readonly #members: { readonly leasehold: Leasehold; readonly partition: RolePartition }[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  get size(): number {
    return this.#members.length;
  }

  join(): void {
    const { clock, random } = { clock: this.#clock, random: this.#random };
    const leasehold = createLeasehold({ store: memoryStore({ database: this.#database }), clock, random, startup: 'background' });
    this.#members.push({ leasehold, partition: leasehold.partition('p', { count: COUNT, balance: 'fair' }) });
    void leasehold.start();
  }

  /** Stops one, as a deploy does. */
  leave(): void {
    const [gone] = this.#members.splice(Math.floor(this.#random() * this.size), 1);
    void gone?.leasehold.stop();
  }

  async stop(): Promise<void> {
    const stopped = this.#members.map(({ leasehold }) => leasehold.stop());
    await this.#clock.advance(BEAT_MS);
    await Promise.all(stopped);
  }

  /** Runs until the roles are even among those that are there, and counts what moved. */
  async settle(change: () => void): Promise<Change> {
    const before = this.#owners();
    change();
    let last = before;
    let moves = 0;
    for (let look = 1; look <= MOST_BEATS * LOOKS; look += 1) {
      await this.#clock.advance(BEAT_MS / LOOKS);
      const owners = this.#owners();
      moves += owners.filter((owner, place) => owner !== null && owner !== last[place]).length;
      last = owners.map((owner, place) => owner ?? last[place] ?? null);
      if (this.#isEven(owners)) return { beats: look / LOOKS, moves, least: this.#leastMoves(before, owners) };
    }
    throw new Error(`not even after ${MOST_BEATS} heartbeats`);
  }

  #owners(): (string | null)[] {
    return Array.from({ length: COUNT }, (_, place) => {
      const owner = this.#members.find(({ partition }) => partition.partitions[place]?.isHeld === true);
      return owner?.leasehold.instance.id ?? null;
    });
  }

  #countsOf(owners: readonly (string | null)[]): number[] {
    return this.#members.map(({ leasehold }) => owners.filter((owner) => owner === leasehold.instance.id).length);
  }

  #isEven(owners: readonly (string | null)[]): boolean {
    const counts = this.#countsOf(owners);
    return !owners.includes(null) && Math.max(...counts) - Math.min(...counts) <= 1;
  }

  /** What each lacked: nobody can get it without a move. */
  #leastMoves(before: readonly (string | null)[], after: readonly (string | null)[]): number {
    const had = this.#countsOf(before);
    return this.#countsOf(after).reduce((sum, count, index) => sum + Math.max(0, count - (had[index] ?? 0)), 0);
  }
}

/** Instances that come and go, one to three at a time, while all the others stay. */
export async function measureBalance(): Promise<Figure[]> {
  const random = randomOf(SEED);
  const [joins, leaves]: [Change[], Change[]] = [[], []];
  for (let history = 1; history <= HISTORIES; history += 1) {
    progress(`balance, history ${history} of ${HISTORIES}`);
    const fleet = new Fleet(random);
    await fleet.settle(() => fleet.join());
    while (fleet.size < 12) joins.push(await fleet.settle(() => repeat(1 + random() * 3, () => fleet.join())));
    while (fleet.size > 4) leaves.push(await fleet.settle(() => repeat(1 + random() * 3, () => fleet.leave())));
    await fleet.stop();
  }
  const all = [...joins, ...leaves];
  const sum = (of: (change: Change) => number): number => all.reduce((total, change) => total + of(change), 0);
  return [
    figure('beatsUntilEvenAfterJoin', Math.max(...joins.map(({ beats }) => beats)), '', '<= 8'),
    figure('beatsUntilEvenAfterLeaveMedian', median(leaves.map(({ beats }) => beats)), ''),
    figure('beatsUntilEvenAfterLeave', Math.max(...leaves.map(({ beats }) => beats)), '', '<= 8'),
    figure('movesOverLeastPossible', sum(({ moves }) => moves) / sum(({ least }) => least), 'x', '<= 1.1'),
    figure('movesOverLeastPossibleWorst', Math.max(...all.map(({ moves, least }) => moves / least)), 'x'),
  ];
}

function repeat(times: number, work: () => void): void {
  for (let n = 1; n <= times; n += 1) work();
}

/** Numbers that look random, and are the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
