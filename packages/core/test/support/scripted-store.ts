import type {
  HeartbeatReply,
  HeartbeatRequest,
  LeaseStore,
  ReleaseOutcome,
  ReleaseReply,
  ReleaseRequest,
  RoleReport,
  StoreCall,
  StoreContext,
} from '@leasehold/core';

export interface PendingCall<Request, Reply> {
  readonly request: Request;
  readonly call: StoreCall;
  answer(reply: Reply): void;
  fail(error: Error): void;
}

/** A store whose every answer a test decides: calls are kept until it answers them. */
export class ScriptedStore implements LeaseStore {
  readonly name = 'scripted';
  readonly heartbeats: PendingCall<HeartbeatRequest, HeartbeatReply>[] = [];
  readonly releases: PendingCall<ReleaseRequest, ReleaseReply>[] = [];
  context: StoreContext | null = null;
  opens = 0;
  closed = false;
  /** Answers releases by itself with this, unless it is null. */
  releaseOutcome: ReleaseOutcome | null = null;
  openError: Error | null = null;

  async open(context: StoreContext): Promise<void> {
    this.opens += 1;
    if (this.openError !== null) throw this.openError;
    this.context = context;
  }

  heartbeat(request: HeartbeatRequest, call: StoreCall): Promise<HeartbeatReply> {
    return record(this.heartbeats, request, call);
  }

  release(request: ReleaseRequest, call: StoreCall): Promise<ReleaseReply> {
    const reply = record(this.releases, request, call);
    const outcome = this.releaseOutcome;
    if (outcome !== null) this.releases.at(-1)?.answer({ roles: new Map(request.roles.map(({ role }) => [role, outcome])) });
    return reply;
  }

  async fence(): Promise<void> {}

  async close(): Promise<void> {
    this.closed = true;
  }

  /** The heartbeat that waits for an answer. */
  get pending(): PendingCall<HeartbeatRequest, HeartbeatReply> {
    const last = this.heartbeats.at(-1);
    if (last === undefined) throw new Error('no heartbeat was sent');
    return last;
  }

  /** Answers everything asked for as a healthy store would for the only candidate, with this token for acquisitions. */
  grant(token: bigint): void {
    const { request } = this.pending;
    const by = { holder: request.instance.id, holderAddress: request.instance.address, remainingMs: 15_000 };
    this.pending.answer({
      roles: [
        ...request.renew.map(({ role, fencingToken }): RoleReport => ({ role, outcome: 'renewed', fencingToken, ...by })),
        ...request.acquire.map(({ role }): RoleReport => ({ role, outcome: 'acquired', fencingToken: token, ...by })),
        ...request.observe.map((role): RoleReport => reportVacant(role, token)),
      ],
    });
  }
}

export function reportVacant(role: string, fencingToken: bigint): RoleReport {
  return { role, outcome: 'vacant', holder: null, holderAddress: null, fencingToken, remainingMs: 0 };
}

export function reportHeld(role: string, fencingToken: bigint, remainingMs: number): RoleReport {
  return { role, outcome: 'held', holder: 'other-1', holderAddress: 'http://10.0.0.2:3000', fencingToken, remainingMs };
}

function record<Request, Reply>(calls: PendingCall<Request, Reply>[], request: Request, call: StoreCall): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  calls.push({ request, call, answer: resolve, fail: reject });
  return promise;
}
