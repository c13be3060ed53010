import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import type {
  AcquireRequest,
  HeartbeatReply,
  HeartbeatRequest,
  InstanceIdentity,
  Member,
  Membership,
  ReleaseOutcome,
  ReleaseReply,
  ReleaseRequest,
  RoleOutcome,
  RoleReport,
  StoreContext,
  TermIdentity,
} from './lease-store.ts';
import { MEMBER_AFTERLIFE_MS } from './lease-store.ts';

interface Present {
  readonly membership: Membership | undefined;
  readonly expiresAt: number;
}

interface Row {
  readonly role: string;
  holder: string | null;
  address: string | null;
  fencingToken: bigint;
  leaseMs: number;
  expiresAt: number;
  readonly fencedBy: Set<MemoryTransaction>;
}

/** A transaction of a {@link MemoryDatabase}: it holds off takeovers of the terms that are fenced in it. */
export interface MemoryTransaction {
  readonly isOpen: boolean;
}

/** What a {@link MemoryDatabase} runs on. */
export interface MemoryDatabaseOptions {
  /** @default the system clock */
  readonly clock?: Clock;
}

/** The rows of a memory store. Give one to several stores, and they compete as instances on one database would. */
export class MemoryDatabase {
  readonly #clock: Clock;
  readonly #rows = new Map<string, Row>();
  readonly #sessions = new Map<string, StoreContext>();
  readonly #instances = new Map<string, Present>();

  constructor(options: MemoryDatabaseOptions = {}) {
    this.#clock = options.clock ?? systemClock;
  }

  /** Runs `work` as one transaction: what it fences stays fenced until `work` has ended. */
  async transaction<T>(work: (transaction: MemoryTransaction) => Promise<T>): Promise<T> {
    const transaction = { isOpen: true };
    try {
      return await work(transaction);
    } finally {
      transaction.isOpen = false;
      for (const row of this.#rows.values()) row.fencedBy.delete(transaction);
    }
  }

  /** Strikes a row, as an operator might. */
  deleteRow(role: string): void {
    this.#rows.delete(role);
  }

  /** Changes for how long each renewal keeps the row, as an operator might. */
  changeLease(role: string, leaseMs: number): void {
    const row = this.#rows.get(role);
    if (row !== undefined) row.leaseMs = leaseMs;
  }

  join(context: StoreContext): void {
    this.#sessions.set(context.instance.id, context);
  }

  leave(instance: string): void {
    this.#sessions.delete(instance);
  }

  heartbeat(request: HeartbeatRequest): HeartbeatReply {
    const { instance, membership } = request;
    const late = this.#isLate(instance.id, membership);
    const entitled = !late && this.#isEntitled(instance.id, membership);
    const members = membership === undefined ? {} : { members: this.#members() };
    const isNews = membership !== undefined && !this.#isKnownAs(instance.id, membership.draining);
    if (!late) this.#instances.set(instance.id, { membership, expiresAt: this.#clock.monotonic() + request.instanceTtlMs });
    const moved = request.renew.map(({ role }) => role).filter((role) => this.#hasMoved(role, instance));
    const renewed = request.renew.map(({ role, fencingToken, onlyAsMember }) => {
      if (late && onlyAsMember === true) return this.#report(role, 'busy');
      return this.#renew({ role, holder: instance.id, fencingToken }, instance);
    });
    const acquired = request.acquire.map((wanted) => this.#acquire(wanted, instance, entitled));
    const observed = request.observe.map((role) => this.#report(role, this.#isLive(role) ? 'held' : 'vacant'));
    const taken = acquired.filter(({ outcome }) => outcome === 'acquired').map(({ role }) => role);
    this.#wakeOthers(instance.id, isNews ? 'all' : [...taken, ...moved]);
    return { roles: [...renewed, ...acquired, ...observed], ...members };
  }

  /** A heartbeat that hung on its way until a later one was there: an instance that has partitions never has none again. */
  #isLate(id: string, membership: Membership | undefined): boolean {
    return (this.#instances.get(id)?.membership?.sequence ?? 0) > (membership?.sequence ?? 0);
  }

  /** A member before this heartbeat, and with the same counts. */
  #isEntitled(id: string, membership: Membership | undefined): boolean {
    const before = this.#instances.get(id)?.membership;
    if (before === undefined || membership === undefined) return false;
    return this.#isPresent(id) && isDeepStrictEqual(before.partitions, membership.partitions);
  }

  #isKnownAs(id: string, draining: boolean): boolean {
    return this.#isPresent(id) && this.#instances.get(id)?.membership?.draining === draining;
  }

  #isPresent(id: string): boolean {
    return this.#clock.monotonic() < (this.#instances.get(id)?.expiresAt ?? Number.NEGATIVE_INFINITY);
  }

  #members(): Member[] {
    const now = this.#clock.monotonic();
    return [...this.#instances].flatMap(([id, { membership, expiresAt }]) => {
      const known = membership !== undefined && now < expiresAt + MEMBER_AFTERLIFE_MS;
      return known ? [{ id, live: now < expiresAt, ...membership }] : [];
    });
  }

  release({ instance, roles, leaving }: ReleaseRequest): ReleaseReply {
    const isNews = leaving && this.#instances.get(instance.id)?.membership !== undefined;
    if (leaving) this.#instances.delete(instance.id);
    const outcomes = new Map<string, ReleaseOutcome>();
    for (const { role, fencingToken } of roles) outcomes.set(role, this.#release(role, instance.id, fencingToken));
    const released = [...outcomes].filter(([, outcome]) => outcome === 'released').map(([role]) => role);
    this.#wakeOthers(instance.id, isNews ? 'all' : released);
    return { roles: outcomes };
  }

  /** @throws {LeaseholdError} LEASEHOLD_FENCED, LEASEHOLD_FENCE_NEEDS_TRANSACTION */
  fence(transaction: MemoryTransaction, term: TermIdentity): void {
    // Nothing at all is what JavaScript lets through.
    if ((transaction as MemoryTransaction | null | undefined)?.isOpen !== true) {
      throw new LeaseholdError(
        'LEASEHOLD_FENCE_NEEDS_TRANSACTION',
        'fence() was given no open transaction; call it within database.transaction().',
      );
    }
    const row = this.#rows.get(term.role);
    if (row === undefined || !this.#isTermOf(row, term) || !this.#isLive(term.role)) {
      throw new LeaseholdError('LEASEHOLD_FENCED', `term ${term.fencingToken} of role "${term.role}" is over; roll back.`, {
        role: term.role,
      });
    }
    row.fencedBy.add(transaction);
  }

  #renew(term: TermIdentity, instance: InstanceIdentity): RoleReport {
    const row = this.#rows.get(term.role);
    if (row === undefined) return this.#report(term.role, 'missing');
    const live = this.#isLive(term.role);
    if (!live || !this.#isTermOf(row, term)) return this.#report(term.role, live ? 'held' : 'vacant');
    // Never earlier than it was: the holder believes in the row as it was, should this reply be lost.
    row.expiresAt = Math.max(row.expiresAt, this.#clock.monotonic() + row.leaseMs);
    row.address = instance.address;
    return this.#report(term.role, 'renewed');
  }

  #acquire(
    { role, leaseMs, tokenFloor, onlyAsMember }: AcquireRequest,
    instance: InstanceIdentity,
    entitled: boolean,
  ): RoleReport {
    const row = this.#rows.get(role) ?? this.#createRow(role);
    if (onlyAsMember === true && !entitled) return this.#report(role, this.#isLive(role) ? 'held' : 'vacant');
    if (this.#isLive(role) && row.holder !== instance.id) return this.#report(role, 'held');
    if (row.fencedBy.size > 0) return this.#report(role, 'busy');
    row.holder = instance.id;
    row.address = instance.address;
    row.fencingToken = (row.fencingToken > tokenFloor ? row.fencingToken : tokenFloor) + 1n;
    row.leaseMs = leaseMs;
    row.expiresAt = this.#clock.monotonic() + leaseMs;
    return this.#report(role, 'acquired');
  }

  #release(role: string, holder: string, fencingToken: bigint | null): ReleaseOutcome {
    const row = this.#rows.get(role);
    if (row === undefined || row.holder !== holder) return 'not-held';
    if (fencingToken !== null && row.fencingToken !== fencingToken) return 'not-held';
    row.holder = null;
    row.address = null;
    row.expiresAt = Number.NEGATIVE_INFINITY;
    return 'released';
  }

  #createRow(role: string): Row {
    const row: Row = {
      role,
      holder: null,
      address: null,
      fencingToken: 0n,
      leaseMs: 0,
      expiresAt: Number.NEGATIVE_INFINITY,
      fencedBy: new Set(),
    };
    this.#rows.set(role, row);
    return row;
  }

  #hasMoved(role: string, { id, address }: InstanceIdentity): boolean {
    const row = this.#rows.get(role);
    return row?.holder === id && row.address !== address;
  }

  #isTermOf(row: Row, term: TermIdentity): boolean {
    return row.holder === term.holder && row.fencingToken === term.fencingToken;
  }

  #isLive(role: string): boolean {
    const row = this.#rows.get(role);
    return row !== undefined && row.holder !== null && this.#clock.monotonic() < row.expiresAt;
  }

  #report(role: string, outcome: RoleOutcome): RoleReport {
    const row = this.#rows.get(role);
    if (row === undefined)
      return { role, outcome: 'missing', holder: null, holderAddress: null, fencingToken: 0n, remainingMs: 0 };
    const remainingMs = row.holder === null ? 0 : Math.max(0, row.expiresAt - this.#clock.monotonic());
    return { role, outcome, holder: row.holder, holderAddress: row.address, fencingToken: row.fencingToken, remainingMs };
  }

  #wakeOthers(instance: string, roles: readonly string[] | 'all'): void {
    if (roles.length === 0) return;
    for (const [id, session] of this.#sessions) {
      if (id !== instance) session.wakeUp(roles);
    }
  }
}
