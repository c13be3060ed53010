import { createLeasehold, type Leasehold, LeaseholdError, type LeaseholdOptions, type RoleLease } from '@leasehold/core';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { type OtherInstance, ScriptedStore } from './scripted-store.ts';

export interface TestLeaseholdOptions extends Omit<LeaseholdOptions, 'store' | 'clock' | 'random' | 'startup'> {
  /** Roles to register; the code under test may register more. @default none */
  readonly roles?: readonly string[];
  /** Who holds what this instance does not, for tests of what is forwarded or skipped. @default an instance without an address */
  readonly other?: OtherInstance;
}

/**
 * How a term is to end, by the code of its signal's reason.
 *
 * - `LEASEHOLD_TERM_LOST`: the next renewal is told that the other instance holds the role.
 * - `LEASEHOLD_TERM_EXPIRED`: no renewal succeeds, until the deadline has passed. Nobody is known to hold the role then.
 */
export type LossReason = 'LEASEHOLD_TERM_LOST' | 'LEASEHOLD_TERM_EXPIRED';

/** A Leasehold whose roles a test gives and takes. */
export interface TestLeasehold extends AsyncDisposable {
  /** Not started: the code under test does that, or the test. */
  readonly leasehold: Leasehold;
  /** The time of {@link leasehold}. It stands still, and no lease runs out, until it is moved. */
  readonly clock: ManualClock;
  /**
   * Makes this instance hold the role, under a new token if it did not; before `start()`, from then on. Ends standing aside.
   *
   * Gotchas: moves the clock by up to 200 ms.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE, LEASEHOLD_STOPPED
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when the role's own `healthCheck` keeps it from being held.
   */
  hold(role: string): Promise<void>;
  /**
   * Ends this instance's term of the role, and keeps it from another until {@link hold}. A role that is not held stays so.
   *
   * Gotchas: moves the clock, by up to a renew interval or, for `LEASEHOLD_TERM_EXPIRED`, to the end of the term. Other
   * roles are renewed meanwhile.
   *
   * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE, LEASEHOLD_STOPPED
   */
  lose(role: string, reason?: LossReason): Promise<void>;
}

/**
 * Makes a Leasehold for the tests of an application: no database, no waiting. At first another instance holds every role.
 *
 * @example
 * ```ts
 * const { leasehold, hold, lose } = testLeasehold({ roles: ['reports'] });
 * await leasehold.start();
 * const reports = leasehold.get('reports');
 * const sendReports = () => reports.whileHeld(() => 'sent');
 *
 * await sendReports(); // { ran: false, currentHolder: 'other-instance' }
 * await hold('reports');
 * await sendReports(); // { ran: true, value: 'sent' }
 * await lose('reports');
 * await sendReports(); // { ran: false, … }
 * await leasehold.stop();
 * ```
 *
 * @throws {LeaseholdError} what `createLeasehold()` and `role()` throw.
 */
export function testLeasehold(options: TestLeaseholdOptions = {}): TestLeasehold {
  const { roles = [], other = {}, ...leaseholdOptions } = options;
  const clock = manualClock();
  const store = new ScriptedStore(other);
  const leasehold = createLeasehold({ ...leaseholdOptions, store, clock, random: () => 0 });
  for (const role of roles) leasehold.role(role);
  const stage = { leasehold, clock, store };
  return {
    leasehold,
    clock,
    hold: (role) => hold(stage, role),
    lose: (role, reason = 'LEASEHOLD_TERM_LOST') => lose(stage, role, reason),
    [Symbol.asyncDispose]: () => leasehold[Symbol.asyncDispose](),
  };
}

interface Stage {
  readonly leasehold: Leasehold;
  readonly clock: ManualClock;
  readonly store: ScriptedStore;
}

const STEP_MS = 10;
/** Twice the pause that core keeps between two heartbeats caused by wake-ups. */
const LONGEST_WAIT_MS = 200;

async function hold({ leasehold, clock, store }: Stage, role: string): Promise<void> {
  const lease = requireUsable(leasehold, role);
  leasehold.compete();
  store.decide(role, 'ours');
  if (!store.isOpen) return;
  for (let ms = 0; ms < LONGEST_WAIT_MS && !lease.isHeld; ms += STEP_MS) await clock.advance(STEP_MS);
  if (lease.isHeld) return;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    `role "${role}" was given to this instance, which does not take it: its healthCheck fails. Let it pass before hold().`,
    { role, option: 'healthCheck' },
  );
}

async function lose({ leasehold, clock, store }: Stage, role: string, reason: LossReason): Promise<void> {
  const lease = requireUsable(leasehold, role);
  store.decide(role, reason === 'LEASEHOLD_TERM_LOST' ? 'theirs' : 'silent');
  await clock.advance(0);
  if (reason === 'LEASEHOLD_TERM_EXPIRED') await clock.advance(lease.remainingMs);
  else while (lease.isHeld) await clock.advance(lease.renewIntervalMs / 10);
}

/** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE, LEASEHOLD_STOPPED */
function requireUsable(leasehold: Leasehold, role: string): RoleLease {
  const lease = leasehold.get(role);
  if (lease.state !== 'stopped') return lease;
  throw new LeaseholdError(
    'LEASEHOLD_STOPPED',
    `role "${role}" is of a Leasehold that was stopped; make a new testLeasehold().`,
    {
      role,
    },
  );
}
