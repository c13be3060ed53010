import { createLeasehold, type Leasehold, type LeaseholdOptions } from '@leasehold/core';
import { type ActorHome, actorHome, type ActorHomeOptions, type AnyActors } from '@leasehold/core/actors';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { onTestFinished } from 'vitest';
import { type ManualClock, manualClock } from '../../../testing/src/manual-clock.ts';
import { spyLogger, type SpyLogger } from './spy-logger.ts';

export interface Actors {
  Order: (message: string) => string;
  Slow: (message: Promise<string>) => string;
}

export interface Copy {
  readonly leasehold: Leasehold;
  readonly home: ActorHome<Actors>;
  readonly clock: ManualClock;
  readonly log: SpyLogger;
  /** Every turn that began, in order. */
  readonly turns: string[];
  readonly signals: AbortSignal[];
}

export interface CopyOptions extends LeaseholdOptions {
  readonly database?: MemoryDatabase;
  readonly clock?: ManualClock;
  readonly home?: ActorHomeOptions;
  readonly mailbox?: number;
}

/** The home, for actors that a test makes up. */
export type Any = ActorHome<AnyActors>;

/** An application with an actor that answers what it is told, and one that waits for it. Started, and at home if it is the first. */
export async function copy({
  database,
  clock = manualClock(),
  home: homeOptions,
  mailbox = 1_000,
  ...options
}: CopyOptions = {}): Promise<Copy> {
  const log = spyLogger();
  const leasehold = createLeasehold({
    store: memoryStore({ database: database ?? new MemoryDatabase({ clock }) }),
    clock,
    logger: log,
    startup: 'background',
    ...options,
  });
  const home = actorHome<Actors>(leasehold, homeOptions);
  const turns: string[] = [];
  const signals: AbortSignal[] = [];
  home.actor('Order', { mailbox, handle: (message, { key }) => (turns.push(`${key}:${message}`), message) });
  home.actor('Slow', {
    mailbox,
    handle: (message, { key, signal }) => {
      turns.push(`${key}:slow`);
      signals.push(signal);
      return message;
    },
  });
  await leasehold.start();
  await clock.advance(0);
  await clock.advance(0);
  onTestFinished(async () => {
    const stopped = leasehold.stop();
    await clock.advance(60_000);
    await stopped;
  });
  return { leasehold, home, clock, log, turns, signals };
}

/** Long enough for every turn that could begin. */
export async function passes(count = 20): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) await new Promise((resolve) => setImmediate(resolve));
}
