import { createLeasehold, type Leasehold, type RoleLease, type TimingOptions } from '../../packages/core/src/index.ts';
import type { MemoryDatabase } from '../../packages/core/src/memory/index.ts';
import type { ManualClock } from '../../packages/testing/src/manual-clock.ts';
import { Evidence } from './evidence.ts';
import { FaultyStore } from './faulty-store.ts';
import { InstanceClock } from './instance-clock.ts';
import type { RowLedger } from './row-ledger.ts';

export interface InstanceSetup {
  readonly timing: TimingOptions;
  readonly rate: number;
  readonly origin: number;
  /** Its wall clock may be set back; then the machine is never suspended: no clock could tell, if both happened. */
  readonly wallGoesBack: boolean;
  /** Seed of its jitter. */
  readonly seed: number;
  readonly maxHold: boolean;
}

/** What all instances share. */
export interface Surroundings {
  readonly shared: ManualClock;
  readonly database: MemoryDatabase;
  readonly rows: RowLedger;
  readonly roles: readonly string[];
  readonly onEvent: () => void;
  readonly violate: (what: string) => void;
}

/** Has a timing of its own, so that one process beats at two intervals. */
const QUICK_ROLE_TIMING = { leaseDuration: '6s', renewInterval: '2s', safetyMargin: '800ms' } as const;
const MAX_HOLD = '40s';

/** One process: a Leasehold, its machine's clocks, its way to the store, and what it was told. */
export class Instance {
  readonly name: string;
  readonly setup: InstanceSetup;
  readonly clock: InstanceClock;
  readonly evidence: Evidence;
  readonly store: FaultyStore;
  readonly leasehold: Leasehold;
  /** Roles whose health check fails, or failed lately. */
  readonly unhealthy = new Set<string>();
  #openWork: { readonly role: string; readonly end: () => void }[] = [];
  readonly #everUnhealthy = new Set<string>();
  stopCalled = false;
  hasStopped = false;

  constructor(name: string, setup: InstanceSetup, surroundings: Surroundings) {
    const { shared, database, rows, roles, onEvent } = surroundings;
    const violate = (what: string): void => surroundings.violate(`${name}: ${what}`);
    this.name = name;
    this.setup = setup;
    this.clock = new InstanceClock(shared, setup, onEvent);
    const isWorkedOn = (role: string): boolean => this.#openWork.some((work) => work.role === role);
    const windowMs = (role: string, keptMs: number): number => windowOf(this.lease(role), keptMs);
    this.evidence = new Evidence({ clock: this.clock, windowMs, isWorkedOn, violate });
    this.store = new FaultyStore({ database, shared, clock: this.clock, rows, evidence: this.evidence });
    this.leasehold = createLeasehold({
      ...setup.timing,
      store: this.store,
      clock: this.clock,
      random: jitter(setup.seed),
      startup: 'background',
      instance: { label: name },
    });
    for (const [index, role] of roles.entries()) {
      this.leasehold.role(role, {
        ...(index === 1 ? QUICK_ROLE_TIMING : {}),
        ...(setup.maxHold && index === 0 ? { maxHold: MAX_HOLD } : {}),
        healthCheck: () => !this.unhealthy.has(role),
        healthCheckFailures: 2,
      });
    }
    void this.leasehold.start();
  }

  get id(): string {
    return this.leasehold.instance.id;
  }

  lease(role: string): RoleLease {
    return this.leasehold.get(role);
  }

  /** Whether its code may be called. */
  get runs(): boolean {
    return this.clock.awake;
  }

  /** Whether it has to compete. */
  get competes(): boolean {
    return !this.stopCalled && !this.clock.dead;
  }

  mayStepDownItself(role: string): boolean {
    return this.setup.maxHold || this.#everUnhealthy.has(role);
  }

  setHealth(role: string, healthy: boolean): void {
    if (healthy) this.unhealthy.delete(role);
    else this.unhealthy.add(role);
    if (!healthy) this.#everUnhealthy.add(role);
  }

  /** Work that runs until {@link endWork}, whatever its signal says. */
  startWork(role: string): void {
    void this.lease(role).whileHeld(() => new Promise<void>((end) => this.#openWork.push({ role, end })));
  }

  endWork(): void {
    for (const { end } of this.#openWork) end();
    this.#openWork = [];
  }

  async stop(): Promise<void> {
    this.stopCalled = true;
    await this.leasehold.stop();
    this.hasStopped = true;
    this.evidence.stopped = true;
  }
}

function windowOf({ leaseDurationMs }: RoleLease, keptMs: number): number {
  return Math.min(leaseDurationMs, keptMs) - MARGINS_MS[leaseDurationMs as keyof typeof MARGINS_MS];
}

/** The safety margin for each lease duration that the model uses. */
const MARGINS_MS = { 15_000: 2_000, 9_000: 1_000, 30_000: 4_000, 6_000: 800 } as const;

export const TIMINGS: readonly TimingOptions[] = [
  {},
  { leaseDuration: '9s', renewInterval: '3s', safetyMargin: '1s' },
  { leaseDuration: '30s', renewInterval: '10s', safetyMargin: '4s' },
];

/** A linear congruential generator: a seed means the same run everywhere. */
function jitter(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
