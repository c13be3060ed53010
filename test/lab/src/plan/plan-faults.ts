import { type Random, randomBetween, randomInteger, seededRandom, shuffled } from '../random.ts';
import type { FaultKind, PlannedFault } from './fault.ts';

export interface PlanOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly processes: number;
  readonly roles: number;
  /** One that is in it twice is dealt twice as often. */
  readonly kinds: readonly FaultKind[];
  /** From one fault to the next, on the average. @default 2500 */
  readonly meanGapMs?: number;
}

const USUAL_GAP_MS = 2_500;
/** Until a process that was struck counts as well again: it reconnects, or is spawned anew. */
const PROCESS_RECOVERY_MS = 1_500;
const DATABASE_RECOVERY_MS = 3_000;
/** The last fault of any kind is over by then. */
const QUIET_END_MS = 1_000;
/** Two well processes are enough to prove that somebody takes over, and that the two do not both. */
const ALWAYS_WELL = 2;
const HOLDER_SHARE = 0.7;

/**
 * Plans every fault of a run, from the seed alone. Kinds are dealt like cards, so that a short run too sees each; a kind
 * for which there is no room right now (too many processes are ill) waits for its turn.
 */
export function planFaults(options: PlanOptions): PlannedFault[] {
  const random = seededRandom(options.seed);
  const { meanGapMs = USUAL_GAP_MS } = options;
  const endMs = options.minutes * 60_000 - QUIET_END_MS;
  const faults: PlannedFault[] = [];
  const deck = new Deck(options.kinds, random);
  const room = new Room(Math.max(1, options.processes - ALWAYS_WELL));
  let atMs = 0;
  while ((atMs += meanGapMs * (0.5 + random())) < endMs) {
    const drawn = deck.draw((kind) => room.has(kind, atMs) && atMs + kind.lasts[0] < endMs);
    if (drawn === undefined) continue;
    const fault = detail(drawn, { ...options, atMs, endMs, random });
    room.take(drawn, fault);
    faults.push(fault);
  }
  return faults;
}

interface Detail {
  readonly atMs: number;
  readonly endMs: number;
  readonly processes: number;
  readonly roles: number;
  readonly random: Random;
}

function detail({ kind, lasts }: FaultKind, { atMs, endMs, processes, roles, random }: Detail): PlannedFault {
  return {
    atMs: Math.round(atMs),
    kind,
    lastsMs: Math.round(Math.min(randomBetween(random, lasts), endMs - atMs)),
    role: randomInteger(random, roles),
    slot: randomInteger(random, processes),
    preferHolder: random() < HOLDER_SHARE,
    draw: random(),
  };
}

/** Deals every kind once before it deals any again. */
class Deck {
  readonly #kinds: readonly FaultKind[];
  readonly #random: Random;
  #left: FaultKind[] = [];

  constructor(kinds: readonly FaultKind[], random: Random) {
    this.#kinds = kinds;
    this.#random = random;
  }

  draw(fits: (kind: FaultKind) => boolean): FaultKind | undefined {
    if (this.#left.length === 0) this.#left = shuffled(this.#kinds, this.#random);
    const index = this.#left.findIndex(fits);
    return index === -1 ? undefined : this.#left.splice(index, 1)[0];
  }
}

/** Keeps count of what is ill at a time. */
class Room {
  readonly #mostIll: number;
  #illUntil: number[] = [];
  #databaseUntil = 0;

  constructor(mostIll: number) {
    this.#mostIll = mostIll;
  }

  has({ strikes }: FaultKind, atMs: number): boolean {
    if (strikes === 'process') return this.#illUntil.filter((until) => until > atMs).length < this.#mostIll;
    return strikes === 'row' || this.#databaseUntil <= atMs;
  }

  take({ strikes }: FaultKind, { atMs, lastsMs }: PlannedFault): void {
    if (strikes === 'process') this.#illUntil.push(atMs + lastsMs + PROCESS_RECOVERY_MS);
    if (strikes === 'database') this.#databaseUntil = atMs + lastsMs + DATABASE_RECOVERY_MS;
    this.#illUntil = this.#illUntil.filter((until) => until > atMs);
  }
}
