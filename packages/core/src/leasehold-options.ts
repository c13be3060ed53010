import { resolveAddress } from './address.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Duration, resolveDuration } from './duration.ts';
import { LeaseholdError } from './errors.ts';
import { createInstanceId, type InstanceOptions, resolveLabel, resolveWeight } from './instance.ts';
import { resolveTiming, type Timing, type TimingOptions } from './lease/lease-options.ts';
import { requireFunction, requireKnown, requireLogger, requireObject, requireThat } from './require-option.ts';
import type { Random } from './lease/pacing.ts';
import { guardLogger, type Logger, silentLogger } from './logger.ts';
import type { LeaseStore } from './store/lease-store.ts';
import { MemoryDatabase } from './store/memory-database.ts';
import { memoryStore } from './store/memory-store.ts';

/**
 * What `start()` does while the store cannot be reached. It never elects without the store.
 *
 * - `wait`: tries until the first heartbeat is answered.
 * - `fail`: rejects after the first try that fails, and can be called again.
 * - `background`: resolves at once, and tries on.
 */
export type Startup = 'wait' | 'fail' | 'background';

export interface LeaseholdOptions extends TimingOptions {
  /** Where the leases live. @default in development `memoryStore()`: this process holds all its roles. In production there is no default. */
  readonly store?: LeaseStore;
  readonly instance?: InstanceOptions;
  /**
   * Which roles this instance may ever hold, those of partitions too: asked once for each, when it is registered. It still knows
   * who holds the others.
   *
   * @default all
   */
  readonly canHold?: (role: string) => boolean;
  /**
   * Longest time that one call to the store may take, also bounded by what is left of each term that is held; in proportion
   * less while a role of shorter timing is held, so that one call that hangs does not use up its whole term. With partitions
   * never more than 25 s.
   *
   * @default half of what a lease has left when its renewal is due: '4s' with the default timing
   */
  readonly callTimeout?: Duration;
  /** How long stop and step-down wait for `whileHeld` work before they leave the lease to run out. @default what a lease has left when its renewal is due: '8s' */
  readonly drainTimeout?: Duration;
  /** How long stop and step-down try to give roles back, after draining. @default '2s' */
  readonly releaseTimeout?: Duration;
  /** @default 'wait' */
  readonly startup?: Startup;
  /** Anything with pino's `debug`, `info`, `warn` and `error`. @default silent */
  readonly logger?: Logger;
  /** For tests: see `manualClock` of `@leasehold/testing`. @default the system clock */
  readonly clock?: Clock;
  /** For tests: where jitter comes from. @default Math.random */
  readonly random?: Random;
}

export interface ResolvedLeaseholdOptions {
  readonly store: LeaseStore;
  readonly label: string;
  readonly id: string;
  readonly address: string | null;
  readonly weight: number;
  readonly canHold: (role: string) => boolean;
  readonly timing: Timing;
  /** What a role's own options are laid over. */
  readonly timingOptions: TimingOptions;
  readonly callTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly releaseTimeoutMs: number;
  readonly startup: Startup;
  readonly logger: Logger;
  /** Says what must not go unseen: in the log, or as a warning of the process where no logger was given. */
  readonly warn: (message: string) => void;
  readonly clock: Clock;
  readonly random: Random;
}

export const LEASEHOLD_OPTIONS: readonly string[] = [
  'store',
  'instance',
  'canHold',
  'leaseDuration',
  'renewInterval',
  'safetyMargin',
  'callTimeout',
  'drainTimeout',
  'releaseTimeout',
  'startup',
  'logger',
  'clock',
  'random',
] satisfies (keyof LeaseholdOptions)[];
const INSTANCE_OPTIONS = ['label', 'address', 'weight'] as const satisfies (keyof InstanceOptions)[];
const STARTUPS: readonly string[] = ['wait', 'fail', 'background'] satisfies Startup[];
const STORE_METHODS = ['open', 'heartbeat', 'release', 'fence', 'close'] as const satisfies (keyof LeaseStore)[];
const DEFAULT_RELEASE_MS = 2_000;
const SHORTEST_CALL_MS = 50;
/** No lease is longer. */
const LONGEST_CALL_MS = 3_600_000;

/**
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_TIMING,
 * LEASEHOLD_INVALID_ADDRESS, LEASEHOLD_NO_STORE
 */
export function resolveLeaseholdOptions(options: LeaseholdOptions): ResolvedLeaseholdOptions {
  requireThat(typeof options === 'object' && options !== null, 'options', options, 'give an object, such as { store }');
  requireKnown('createLeasehold()', options, LEASEHOLD_OPTIONS);
  const { instance = {}, startup = 'wait', clock = systemClock, random = Math.random, logger = silentLogger } = options;
  const { canHold = () => true } = options;
  requireFunction('canHold', canHold);
  requireObject('instance', instance);
  requireKnown('instance', instance, INSTANCE_OPTIONS);
  const timing = resolveTiming(options);
  const { leaseDuration, renewInterval, safetyMargin } = options;
  requireThat(STARTUPS.includes(startup), 'startup', startup, `give one of ${STARTUPS.join(', ')}`);
  requireLogger(logger);
  const label = resolveLabel(instance.label);
  return {
    ...resolveTimeouts(options, timing),
    store: resolveStore(options, clock),
    label,
    id: createInstanceId(label),
    address: instance.address === undefined ? null : resolveAddress('instance.address', instance.address),
    weight: resolveWeight(instance.weight),
    canHold,
    timing,
    timingOptions: { leaseDuration, renewInterval, safetyMargin } as TimingOptions,
    startup,
    logger: guardLogger(logger),
    warn: (message) => warn(options.logger, message),
    clock,
    random,
  };
}

function resolveTimeouts(
  options: LeaseholdOptions,
  timing: Timing,
): Pick<ResolvedLeaseholdOptions, 'callTimeoutMs' | 'drainTimeoutMs' | 'releaseTimeoutMs'> {
  const { slackMs } = timing;
  return {
    callTimeoutMs: resolveDuration('callTimeout', options.callTimeout ?? Math.max(SHORTEST_CALL_MS, slackMs / 2), {
      min: SHORTEST_CALL_MS,
      max: LONGEST_CALL_MS,
    }),
    drainTimeoutMs: resolveDuration('drainTimeout', options.drainTimeout ?? slackMs, { min: 0 }),
    releaseTimeoutMs: resolveDuration('releaseTimeout', options.releaseTimeout ?? DEFAULT_RELEASE_MS),
  };
}

function resolveStore({ store, logger }: LeaseholdOptions, clock: Clock): LeaseStore {
  if (store !== undefined) {
    const complete =
      typeof store === 'object' && store !== null && STORE_METHODS.every((name) => typeof store[name] === 'function');
    requireThat(complete, 'store', store, 'give a LeaseStore, such as postgresStore({ connectionString })');
    return store;
  }
  if (process.env['NODE_ENV'] === 'production') {
    throw new LeaseholdError(
      'LEASEHOLD_NO_STORE',
      'store is undefined and NODE_ENV is production: without a shared store every instance would elect itself. Give store: postgresStore({ connectionString }).',
      { option: 'store' },
    );
  }
  warn(logger, 'no store was given: roles live in the memory of this process, and every process holds them all');
  return memoryStore({ database: new MemoryDatabase({ clock }) });
}

function warn(logger: Logger | undefined, message: string): void {
  if (logger === undefined) process.emitWarning(message, { type: 'LeaseholdWarning' });
  else guardLogger(logger).warn({}, message);
}
