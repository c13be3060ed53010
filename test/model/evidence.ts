import type {
  HeartbeatReply,
  HeartbeatRequest,
  ReleaseRequest,
  RoleOutcome,
  RoleReport,
  StoreCall,
} from '../../packages/core/src/index.ts';
import type { InstanceClock } from './instance-clock.ts';

export interface SentCall {
  readonly kind: 'open' | 'heartbeat' | 'release';
  readonly call: StoreCall;
  /** Of a heartbeat. */
  readonly request?: HeartbeatRequest;
  /** Of a release. */
  readonly released?: ReleaseRequest['roles'];
}

export interface CallRecord extends SentCall {
  readonly monotonic: number;
  readonly wall: number;
  settled: boolean;
}

/** How long an instance may believe in a term, by what it was told and when it had asked. */
export interface Proof {
  readonly token: bigint;
  readonly monotonicUntil: number;
  readonly wallUntil: number;
  /** By a reply that has arrived, and that core is about to look at. */
  readonly next?: Proof;
}

/** After one event core takes fewer microtasks than this until it waits for the next. */
export const MICROTASKS = 24;

export interface EvidenceOptions {
  readonly clock: InstanceClock;
  /** For how long a reply may be believed that says that the row is kept for `keptMs`. */
  readonly windowMs: (role: string, keptMs: number) => number;
  /** Whether the application's work runs under the role. */
  readonly isWorkedOn: (role: string) => boolean;
  readonly violate: (what: string) => void;
}

/** What one instance can know: the calls that it sent, and the replies that reached it in time. */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #proofs = new Map<string, Proof>();
  readonly #highest = new Map<string, bigint>();
  readonly #renewals = new Map<string, { readonly token: bigint; readonly outcome: RoleOutcome }>();
  readonly #believed = new Set<string>();
  #calls: CallRecord[] = [];
  /** Set once stop() has resolved. */
  stopped = false;

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  callWasSent(sent: SentCall): CallRecord {
    const { clock } = this.#options;
    const record = { ...sent, monotonic: clock.monotonic(), wall: clock.wall(), settled: false };
    if (sent.kind === 'heartbeat') this.#checkHeartbeat(sent.request);
    for (const { role, fencingToken } of sent.released ?? []) this.#checkRelease(role, fencingToken);
    this.#calls = this.pendingCalls;
    this.#calls.push(record);
    return record;
  }

  /** A heartbeat's reply comes to core. It proves nothing when nobody waits for it any more. */
  replyArrived(record: CallRecord, { roles }: HeartbeatReply): void {
    if (record.call.signal.aborted) return;
    for (const report of roles) {
      const { role, outcome, fencingToken } = report;
      if (fencingToken > this.highestToken(role)) this.#highest.set(role, fencingToken);
      const renewed = record.request?.renew.find((asked) => asked.role === role);
      if (renewed !== undefined) this.#renewals.set(role, { token: renewed.fencingToken, outcome });
      if (outcome === 'renewed' || outcome === 'acquired') this.#prove(report, record);
    }
  }

  #prove({ role, fencingToken: token, remainingMs }: RoleReport, sent: CallRecord): void {
    const last = this.#proofs.get(role);
    // What has lapsed stays over, though nobody may have noticed yet.
    if (last?.token === token && this.hasPassed(last)) return;
    const windowMs = this.#options.windowMs(role, remainingMs);
    const proof = { token, monotonicUntil: sent.monotonic + windowMs, wallUntil: sent.wall + windowMs };
    if (last?.token === token) void this.#renew(role, last, proof);
    else this.#proofs.set(role, proof);
  }

  async #renew(role: string, from: Proof, to: Proof): Promise<void> {
    const between = { ...from, next: to };
    this.#proofs.set(role, between);
    for (let count = 0; count < MICROTASKS; count += 1) await Promise.resolve();
    if (this.#proofs.get(role) === between) this.#proofs.set(role, to);
  }

  /** For how long belief is allowed yet. */
  leftMs({ monotonicUntil, wallUntil, next }: Proof): number {
    const { clock } = this.#options;
    const left = Math.min(monotonicUntil - clock.monotonic(), wallUntil - clock.wall());
    return next === undefined ? left : Math.max(left, this.leftMs(next));
  }

  /** Whether belief may be over: by the reply before, or by the one that core is about to look at. */
  hasPassed(proof: Proof): boolean {
    const { next, ...before } = proof;
    return this.leftMs(before) <= 0 || (next !== undefined && this.hasPassed(next));
  }

  proof(role: string): Proof | undefined {
    return this.#proofs.get(role);
  }

  highestToken(role: string): bigint {
    return this.#highest.get(role) ?? 0n;
  }

  /** Whether the last word of the store on a renewal under this token was that the term is over. */
  wasToldLost(role: string, token: bigint): boolean {
    const last = this.#renewals.get(role);
    return last?.token === token && last.outcome !== 'renewed' && last.outcome !== 'busy';
  }

  /** Calls that were neither answered nor given up. */
  get pendingCalls(): CallRecord[] {
    return this.#calls.filter(({ settled, call }) => !settled && !call.signal.aborted);
  }

  /** What was won and is not wanted may go back at once: it never was a term, and no work ran under it. */
  #checkRelease(role: string, token: bigint | null): void {
    const neverHeld = token !== null && !this.#believed.has(`${role}\n${token}`);
    if (!neverHeld && this.#options.isWorkedOn(role)) this.#options.violate(`${role} is given back while work runs under it`);
  }

  /** A term of this instance has begun. */
  termBegan(role: string, token: bigint): void {
    this.#believed.add(`${role}\n${token}`);
  }

  #checkHeartbeat(request: HeartbeatRequest | undefined): void {
    const { violate } = this.#options;
    if (this.stopped) violate('a heartbeat was sent after stop() had resolved');
    if (this.pendingCalls.some(({ kind }) => kind === 'heartbeat')) violate('two heartbeats are in flight');
    const { renew = [], acquire = [], observe = [] } = request ?? {};
    const roles = [...renew, ...acquire].map(({ role }) => role).concat(observe);
    if (new Set(roles).size !== roles.length) violate(`a heartbeat asks for a role twice: ${roles.join(', ')}`);
    for (const { role, tokenFloor } of acquire) {
      if (tokenFloor < this.highestToken(role)) violate(`the floor ${tokenFloor} for ${role} is below a token that was seen`);
    }
  }
}
