import {
  type AcquireRequest,
  type HeartbeatReply,
  type HeartbeatRequest,
  type InstanceIdentity,
  LeaseholdError,
  type LeaseStore,
  type Membership,
  type ReleaseOutcome,
  type ReleaseReply,
  type ReleaseRequest,
  type RoleReport,
  type StoreContext,
  type TermIdentity,
} from '@leasehold/core';

/** Who holds the roles that this instance does not. */
export interface OtherInstance {
  /** @default 'other-instance' */
  readonly id?: string;
  /** Origin of the other, or null: where a proxy forwards to. @default null */
  readonly address?: string | null;
}

/** `ours`: given to whoever asks. `theirs`: the other instance has it. `silent`: the store says nothing about it. */
type Part = 'ours' | 'theirs' | 'silent';

interface ScriptedRole {
  part: Part;
  /** The highest token so far. */
  token: bigint;
  /** Of the term that this instance has, if any. */
  heldToken: bigint | null;
}

/** What is left of the other's lease, always. */
const THEIRS_MS = 60_000;

/** A store that says of each role what a test has decided. Without a word of the test, the other instance holds it. */
export class ScriptedStore implements LeaseStore {
  readonly name = 'scripted';
  readonly #roles = new Map<string, ScriptedRole>();
  readonly #other: Required<OtherInstance>;
  #context: StoreContext | null = null;
  #declared: Membership | undefined;

  constructor({ id = 'other-instance', address = null }: OtherInstance) {
    this.#other = { id, address };
  }

  get isOpen(): boolean {
    return this.#context !== null;
  }

  decide(role: string, part: Part): void {
    const scripted = this.#role(role);
    if (part === 'theirs' && scripted.part !== 'theirs') scripted.token += 1n;
    if (part === 'theirs') scripted.heldToken = null;
    scripted.part = part;
    this.#context?.wakeUp([role]);
  }

  async open(context: StoreContext): Promise<void> {
    this.#context = context;
  }

  async heartbeat(request: HeartbeatRequest): Promise<HeartbeatReply> {
    const { instance, renew, acquire, observe } = request;
    const reports = [
      ...renew.map(({ role, fencingToken }) => this.#renew(role, fencingToken, instance)),
      ...acquire.map((wanted) => this.#acquire(wanted, instance)),
      ...observe.map((role) => this.#report(role, instance)),
    ];
    return { roles: reports.filter((report) => report !== null), ...this.#declare(request) };
  }

  /** Tells of this instance alone: the other takes part in no partition. */
  #declare({ instance, membership }: HeartbeatRequest): Pick<HeartbeatReply, 'members'> {
    const before = this.#declared;
    this.#declared = membership;
    if (membership === undefined) return {};
    return { members: before === undefined ? [] : [{ id: instance.id, live: true, ...before }] };
  }

  async release({ roles }: ReleaseRequest): Promise<ReleaseReply> {
    return { roles: new Map(roles.map(({ role, fencingToken }) => [role, this.#release(role, fencingToken)])) };
  }

  async fence(_client: unknown, { role, fencingToken }: TermIdentity): Promise<void> {
    const { part, heldToken } = this.#role(role);
    if (part === 'ours' && heldToken === fencingToken) return;
    throw new LeaseholdError('LEASEHOLD_FENCED', `term ${fencingToken} of role "${role}" is over; roll back.`, { role });
  }

  async close(): Promise<void> {
    this.#context = null;
  }

  #renew(role: string, token: bigint, instance: InstanceIdentity): RoleReport | null {
    const report = this.#report(role, instance);
    return report?.outcome === 'held' && report.holder === instance.id && report.fencingToken === token
      ? { ...report, outcome: 'renewed' }
      : report;
  }

  #acquire({ role, tokenFloor }: AcquireRequest, instance: InstanceIdentity): RoleReport | null {
    const scripted = this.#role(role);
    if (scripted.part === 'ours') {
      scripted.token = (scripted.token > tokenFloor ? scripted.token : tokenFloor) + 1n;
      scripted.heldToken = scripted.token;
    }
    const report = this.#report(role, instance);
    return report !== null && scripted.part === 'ours' ? { ...report, outcome: 'acquired' } : report;
  }

  #release(role: string, token: bigint | null): ReleaseOutcome {
    const scripted = this.#role(role);
    const ours = scripted.heldToken !== null && (token === null || token === scripted.heldToken);
    if (ours) scripted.heldToken = null;
    return ours ? 'released' : 'not-held';
  }

  #report(role: string, instance: InstanceIdentity): RoleReport | null {
    const { part, token, heldToken } = this.#role(role);
    if (part === 'silent') return null;
    const theirs = { holder: this.#other.id, holderAddress: this.#other.address };
    const ours = { holder: instance.id, holderAddress: instance.address };
    if (part === 'theirs') return { role, outcome: 'held', fencingToken: token, remainingMs: THEIRS_MS, ...theirs };
    if (heldToken !== null) return { role, outcome: 'held', fencingToken: heldToken, remainingMs: THEIRS_MS, ...ours };
    return { role, outcome: 'vacant', fencingToken: token, remainingMs: 0, holder: null, holderAddress: null };
  }

  #role(role: string): ScriptedRole {
    const known = this.#roles.get(role) ?? { part: 'theirs', token: 1n, heldToken: null };
    this.#roles.set(role, known);
    return known;
  }
}
