import type {
  HeartbeatReply,
  HeartbeatRequest,
  LeaseStore,
  ReleaseReply,
  ReleaseRequest,
  RoleReport,
  StoreCall,
  StoreContext,
  TermIdentity,
} from '../../packages/core/src/index.ts';
import type { MemoryDatabase, MemoryTransaction } from '../../packages/core/src/memory/index.ts';
import type { ManualClock } from '../../packages/testing/src/manual-clock.ts';
import type { Evidence, SentCall } from './evidence.ts';
import { type Fate, PROMPT } from './fate.ts';
import type { InstanceClock } from './instance-clock.ts';
import type { RowLedger } from './row-ledger.ts';

export type WakeUpMode = 'deliver' | 'drop' | 'late' | 'twice';

export interface FaultyStoreOptions {
  readonly database: MemoryDatabase;
  readonly shared: ManualClock;
  readonly clock: InstanceClock;
  readonly rows: RowLedger;
  readonly evidence: Evidence;
}

const LATE_WAKE_UP_MS = 3_000;

/**
 * The store as one instance sees it, over a network at its worst: delays before and after taking effect, requests and
 * replies that are lost, repeated and overtaken, errors, calls that hang for ever. It never heeds a signal.
 */
export class FaultyStore implements LeaseStore {
  readonly name = 'faulty';
  /** Of the calls to come, one each. */
  readonly fates: Fate[] = [];
  /** Of the calls after those. */
  standing: Fate = PROMPT;
  wakeUps: WakeUpMode = 'deliver';
  readonly #options: FaultyStoreOptions;
  readonly #underWay = new Set<() => void>();
  #wakeUp: StoreContext['wakeUp'] = () => {};

  constructor(options: FaultyStoreOptions) {
    this.#options = options;
  }

  open(context: StoreContext, call: StoreCall): Promise<void> {
    const { database } = this.#options;
    this.#wakeUp = context.wakeUp;
    return this.#send({ kind: 'open', call }, () => database.join({ ...context, wakeUp: (roles) => this.wake(roles) }));
  }

  heartbeat(request: HeartbeatRequest, call: StoreCall): Promise<HeartbeatReply> {
    const { database, rows } = this.#options;
    return this.#send({ kind: 'heartbeat', call, request }, () => {
      const reply = database.heartbeat(request);
      rows.beatTookEffect(request, reply);
      return reply;
    });
  }

  release(request: ReleaseRequest, call: StoreCall): Promise<ReleaseReply> {
    const { database, rows } = this.#options;
    return this.#send({ kind: 'release', call, released: request.roles }, () => {
      const reply = database.release(request);
      rows.releaseTookEffect(request, reply);
      return reply;
    });
  }

  async fence(client: unknown, term: TermIdentity): Promise<void> {
    this.#options.database.fence(client as MemoryTransaction, term);
  }

  async close(): Promise<void> {
    this.#wakeUp = () => {};
  }

  /** A wake-up, true or not, on its way to the process. */
  wake(roles: readonly string[] | 'all'): void {
    const { clock, shared } = this.#options;
    const arrive = (): void => clock.deliver('network', () => this.#wakeUp(roles));
    if (this.wakeUps === 'late') shared.setTimer(arrive, LATE_WAKE_UP_MS);
    else if (this.wakeUps !== 'drop') arrive();
    if (this.wakeUps === 'twice') arrive();
  }

  /** The network is whole again, and everything under way arrives. What was lost stays lost. */
  heal(): void {
    this.fates.length = 0;
    this.standing = PROMPT;
    this.wakeUps = 'deliver';
    while (this.#underWay.size > 0) for (const arrive of this.#underWay) arrive();
  }

  #send<Reply>(sent: SentCall, takeEffect: () => Reply): Promise<Reply> {
    const fate = this.fates.shift() ?? this.standing;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const record = this.#options.evidence.callWasSent(sent);
    const fail = (): void => {
      record.settled = true;
      reject(new Error('connection reset'));
    };
    const tell = (reply: Reply): void => {
      record.settled = true;
      const told = spoil(reply, fate);
      if (sent.request !== undefined) this.#options.evidence.replyArrived(record, told as HeartbeatReply);
      resolve(told);
    };
    const [first, ...again] = fate.effects;
    if (first === undefined) this.#answer(fate, fail);
    else {
      this.#later(first, () => {
        const reply = takeEffect();
        this.#answer(fate, fate.answer === 'error' ? fail : () => tell(reply));
      });
    }
    for (const ms of again) this.#later(ms, takeEffect);
    return promise;
  }

  #answer({ answerAfter }: Fate, arrive: () => void): void {
    if (answerAfter === null) return;
    this.#later(answerAfter, () => this.#options.clock.deliver('network', arrive));
  }

  #later(ms: number, arrive: () => void): void {
    const { shared } = this.#options;
    if (ms === 0) return void Promise.resolve().then(arrive);
    const once = (): void => {
      timer.cancel();
      if (this.#underWay.delete(once)) arrive();
    };
    const timer = shared.setTimer(once, ms);
    this.#underWay.add(once);
  }
}

/** A reply as it may arrive: reports in any order, some twice, or one left out. */
function spoil<Reply>(reply: Reply, { reports }: Fate): Reply {
  const roles: unknown = (reply as Partial<HeartbeatReply> | undefined)?.roles;
  if (!Array.isArray(roles) || reports === 'in order') return reply;
  const told = roles as RoleReport[];
  const changed = reports === 'one missing' ? told.slice(1) : [...told.toReversed(), ...told];
  return { roles: changed } as Reply;
}
