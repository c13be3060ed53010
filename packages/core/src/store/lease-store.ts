import type { Logger } from '../logger.ts';

/**
 * Where the leases live. Implement it for another database and prove it with the conformance suite of
 * `@leasehold/testing`.
 *
 * The store's own clock alone decides whether a lease is live. A store never guesses: what it could not find out is
 * `busy` in a report, or a rejection of the call.
 */
export interface LeaseStore {
  /** For messages: `postgres`, `memory`. */
  readonly name: string;

  /**
   * Makes ready: connects, checks or migrates the schema. Called again after a failure.
   *
   * @throws {LeaseholdError} LEASEHOLD_SCHEMA_* or LEASEHOLD_PERMISSION_DENIED, which waiting does not mend;
   * anything else is taken for an outage.
   */
  open(context: StoreContext, call: StoreCall): Promise<void>;

  /**
   * One statement: renews what is held, takes what is vacant, tells who holds the rest, and wakes the other instances where
   * a role was taken or its holder's address changed, and where a member is new or begins or ends to drain. At most one is in
   * flight.
   */
  heartbeat(request: HeartbeatRequest, call: StoreCall): Promise<HeartbeatReply>;

  /** Gives roles back and wakes the other instances, also where a member leaves. The row and its token stay. */
  release(request: ReleaseRequest, call: StoreCall): Promise<ReleaseReply>;

  /**
   * Checks, inside the transaction open on `client`, that the term is the current one, and keeps it so until that
   * transaction ends.
   *
   * @throws {LeaseholdError} LEASEHOLD_FENCED when the term is over.
   */
  fence(client: unknown, term: TermIdentity): Promise<void>;

  /** Frees connections. Never rejects, and is harmless when called twice. */
  close(): Promise<void>;
}

export interface StoreContext {
  readonly instance: InstanceIdentity;
  readonly logger: Logger;
  /** The longest time that any call will be given, in milliseconds: a bound for work left behind on the server. */
  readonly longestCallMs: number;
  /** Says that roles changed hands; a hint alone, which may come twice, late or never. */
  readonly wakeUp: (roles: readonly string[] | 'all') => void;
}

/** The limits of one call. The store settles it by then, and by destroying its connection if it has to. */
export interface StoreCall {
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface InstanceIdentity {
  /** Label and random suffix; new at every start, so that a restarted process is never taken for its former self. */
  readonly id: string;
  /** For people; host name by default. */
  readonly label: string;
  /** Origin where the other instances reach this one, or null. */
  readonly address: string | null;
}

export interface TermIdentity {
  readonly role: string;
  readonly holder: string;
  readonly fencingToken: bigint;
}

export interface HeartbeatRequest {
  readonly instance: InstanceIdentity;
  /** How long this instance counts as alive after this heartbeat, in milliseconds. */
  readonly instanceTtlMs: number;
  readonly renew: readonly RenewRequest[];
  readonly acquire: readonly AcquireRequest[];
  /** Roles to report and leave alone. */
  readonly observe: readonly string[];
  /** What this instance declares about its partitions from here on; left out without any, and then nobody's is told. */
  readonly membership?: Membership;
}

/** An instance's part in the partitions: what the others need to know of it before it owns anything. */
export interface Membership {
  /**
   * Rises with each heartbeat of the instance. One that takes effect after a later one, as it hung on its way, does not put the
   * membership back, and takes and renews no role that is for members.
   */
  readonly sequence: number;
  /** The partitions that it competes for, each with its count. */
  readonly partitions: Readonly<Record<string, number>>;
  /** Its share, in relation to those of the others. */
  readonly weight: number;
  /**
   * The roles of each fair partition that it cannot hold at present, as it is ill, excluded or stands aside: one bit for each in
   * hexadecimal, the first role the lowest bit of the first digit. Left out where it can hold them all, or drains.
   */
  readonly excluded: Readonly<Record<string, string>>;
  /** It hands over what it has, and takes nothing. */
  readonly draining: boolean;
}

/** A membership as it was *before* the heartbeat that tells of it. */
export interface Member extends Membership {
  readonly id: string;
  /**
   * False: its time ran out lately. It may be gone, or may still run a statement that began before; what it declared is
   * not to be contradicted yet.
   */
  readonly live: boolean;
}

/**
 * Renews a row whose holder and token are these and which has not run out, for the duration it was acquired with.
 * Never re-creates a row, never takes back what was lost, and never moves an expiry back: the reply may be lost, and the
 * holder then believes what the reply before allowed.
 */
export interface RenewRequest {
  readonly role: string;
  readonly fencingToken: bigint;
  /**
   * Renew it only if this same call also prolongs the time for which this instance counts as alive: whoever holds roles of a
   * partition is to be seen as its member for as long. Otherwise `busy`.
   *
   * @default false
   */
  readonly onlyAsMember?: boolean;
}

/**
 * Takes a row that is vacant or has run out, or that names this very instance (whose own reply was lost). Always
 * raises the token. Creates a row that does not exist.
 */
export interface AcquireRequest {
  readonly role: string;
  readonly leaseMs: number;
  /** The highest token this instance has seen for the role: a row that somebody deleted may not fall below it. */
  readonly tokenFloor: bigint;
  /**
   * Take it only if this instance is live in the store, and its declared partitions are those of this heartbeat, *before* this
   * heartbeat, which prolongs that. Otherwise leave the row as it is, and report what it says.
   *
   * @default false
   */
  readonly onlyAsMember?: boolean;
}

/**
 * - `renewed`, `acquired`: this instance holds it, as of the store's clock.
 * - `held`: the row names a live holder and was not renewed or taken by this call.
 * - `vacant`: nobody holds it, or the lease has run out.
 * - `busy`: the row could have been renewed or taken, but somebody has it locked; whose it is, is not known.
 * - `missing`: there is no row.
 */
export type RoleOutcome = 'renewed' | 'acquired' | 'held' | 'vacant' | 'busy' | 'missing';

export interface RoleReport {
  readonly role: string;
  readonly outcome: RoleOutcome;
  readonly holder: string | null;
  readonly holderAddress: string | null;
  readonly fencingToken: bigint;
  /** What is left of the lease by the store's clock, in milliseconds; 0 when nobody holds it. */
  readonly remainingMs: number;
}

export interface HeartbeatReply {
  /** One report for each role asked for, in any order. */
  readonly roles: readonly RoleReport[];
  /** Every instance that declared a membership, this one too; only where one was given. Without them there are no partitions. */
  readonly members?: readonly Member[];
}

/**
 * For how long after its time ran out a member is still told of, in milliseconds. A heartbeat that it sent before may take
 * effect until then; none is believed that took longer.
 */
export const MEMBER_AFTERLIFE_MS = 30_000;

export interface ReleaseRequest {
  readonly instance: InstanceIdentity;
  /** Roles whose token this instance knows, and (with null) roles that it may hold without knowing it. */
  readonly roles: readonly { readonly role: string; readonly fencingToken: bigint | null }[];
  /** The instance is going away: strike it off the list of the living too. */
  readonly leaving: boolean;
}

/** `released`: vacant now. `not-held`: it was not this term's any more. `unknown`: the row was locked; it will run out. */
export type ReleaseOutcome = 'released' | 'not-held' | 'unknown';

export interface ReleaseReply {
  readonly roles: ReadonlyMap<string, ReleaseOutcome>;
}
