import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  type AcquireRequest,
  type HeartbeatReply,
  type InstanceIdentity,
  type LeaseStore,
  type Membership,
  type ReleaseOutcome,
  type RenewRequest,
  type RoleReport,
  silentLogger,
  type StoreCall,
  type TermIdentity,
} from '@leasehold/core';

/** Long enough that no case sees the end of it. */
export const LONG_LEASE_MS = 600_000;
const CALL_MS = 10_000;

export interface Beat {
  readonly renew?: readonly RenewRequest[];
  readonly acquire?: readonly AcquireRequest[];
  readonly observe?: readonly string[];
  readonly membership?: Membership;
  /** For how long the instance counts as alive. @default long */
  readonly ttlMs?: number;
}

export interface AcquireOptions {
  readonly leaseMs?: number;
  readonly tokenFloor?: bigint;
}

export function newCall(): StoreCall {
  return { timeoutMs: CALL_MS, signal: AbortSignal.timeout(CALL_MS) };
}

export function newInstance(label: string, address: string | null): InstanceIdentity {
  return { id: `${label}-${randomBytes(6).toString('hex')}`, label, address };
}

/** One instance with a store of its own, speaking to it as core does. */
export class Member {
  readonly store: LeaseStore;
  readonly wakeUps: (readonly string[] | 'all')[] = [];
  instance: InstanceIdentity;

  constructor(store: LeaseStore, instance: InstanceIdentity) {
    this.store = store;
    this.instance = instance;
  }

  get id(): string {
    return this.instance.id;
  }

  open(): Promise<void> {
    const wakeUp = (roles: readonly string[] | 'all'): void => void this.wakeUps.push(roles);
    const context = { instance: this.instance, logger: silentLogger, longestCallMs: CALL_MS, wakeUp };
    return this.store.open(context, newCall());
  }

  /** One heartbeat; checks that its reply has one report for each role asked for, and no other. */
  async beat(beat: Beat): Promise<Map<string, RoleReport>> {
    return new Map((await this.send(beat)).roles.map((report) => [report.role, report]));
  }

  /** The same, with all that the reply says. */
  async send({ renew = [], acquire = [], observe = [], membership, ttlMs = LONG_LEASE_MS }: Beat): Promise<HeartbeatReply> {
    const asks = { instance: this.instance, instanceTtlMs: ttlMs, renew, acquire, observe };
    const reply = await this.store.heartbeat(membership === undefined ? asks : { ...asks, membership }, newCall());
    const asked = [...renew, ...acquire].map(({ role }) => role).concat(observe);
    assert.deepEqual(reply.roles.map(({ role }) => role).sort(), asked.sort(), 'one report for each role asked for');
    return reply;
  }

  async acquire(role: string, { leaseMs = LONG_LEASE_MS, tokenFloor = 0n }: AcquireOptions = {}): Promise<RoleReport> {
    return only(await this.beat({ acquire: [{ role, leaseMs, tokenFloor }] }));
  }

  async renew(role: string, fencingToken: bigint): Promise<RoleReport> {
    return only(await this.beat({ renew: [{ role, fencingToken }] }));
  }

  async observe(role: string): Promise<RoleReport> {
    return only(await this.beat({ observe: [role] }));
  }

  async releaseAll(
    roles: readonly { readonly role: string; readonly fencingToken: bigint | null }[],
  ): Promise<ReadonlyMap<string, ReleaseOutcome>> {
    return (await this.store.release({ instance: this.instance, roles, leaving: false }, newCall())).roles;
  }

  /** Gives back nothing, and says that it goes away. */
  async leave(): Promise<void> {
    await this.store.release({ instance: this.instance, roles: [], leaving: true }, newCall());
  }

  async release(role: string, fencingToken: bigint | null): Promise<ReleaseOutcome | undefined> {
    return (await this.releaseAll([{ role, fencingToken }])).get(role);
  }

  /** Acquires, and fails the case if that does not succeed. */
  async take(role: string, options: AcquireOptions = {}): Promise<TermIdentity> {
    const report = await this.acquire(role, options);
    assertHeldBy(report, 'acquired', this);
    return { role, holder: this.id, fencingToken: report.fencingToken };
  }
}

/** Checks an outcome that says who holds, and everything that it says of the holder. */
export function assertHeldBy(report: RoleReport, outcome: 'acquired' | 'renewed' | 'held', holder: Member): void {
  assert.equal(report.outcome, outcome);
  assert.equal(report.holder, holder.id);
  assert.equal(report.holderAddress, holder.instance.address);
  assert.equal(typeof report.fencingToken, 'bigint');
  assert.ok(report.remainingMs > 0, `remainingMs of a lease that lives is over 0, not ${report.remainingMs}`);
}

function only(reports: ReadonlyMap<string, RoleReport>): RoleReport {
  const [report] = reports.values();
  assert.ok(report);
  return report;
}
