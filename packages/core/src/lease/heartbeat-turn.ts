import type { Clock } from '../clock.ts';
import { publish } from '../diagnostics.ts';
import { isLeaseholdError } from '../errors.ts';
import { callStore } from '../store/call-store.ts';
import type {
  AcquireRequest,
  HeartbeatRequest,
  InstanceIdentity,
  LeaseStore,
  Member,
  Membership,
  RenewRequest,
  RoleReport,
} from '../store/lease-store.ts';
import type { LeaseAsk, ManagedLease } from './managed-lease.ts';
import type { SentAt } from './term.ts';

export interface TurnOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly instance: InstanceIdentity;
  readonly instanceTtlMs: number;
  readonly membership: Membership | undefined;
  readonly timeoutMs: number;
}

interface TurnAnswer {
  readonly lease: ManagedLease;
  readonly ask: LeaseAsk;
  /** Undefined when the store said nothing about the role. */
  readonly report: RoleReport | undefined;
}

export interface TurnResult {
  readonly sentAt: SentAt;
  readonly answers: readonly TurnAnswer[];
  readonly members?: readonly Member[] | undefined;
  /** What made the heartbeat fail; then there are no answers. */
  readonly error?: unknown;
}

/** Sends one heartbeat for the leases given, and pairs what was asked with what was answered. Never rejects. */
export async function takeTurn(leases: readonly ManagedLease[], options: TurnOptions): Promise<TurnResult> {
  const asks = new Map(leases.map((lease) => [lease.role, { lease, ask: lease.nextAsk() }]));
  const request = composeRequest(asks, options);
  const { clock, store, timeoutMs } = options;
  // Both clocks are read before anything is sent: belief counts from here.
  const sentAt: SentAt = { monotonic: clock.monotonic(), wall: clock.wall() };
  try {
    const reply = await callStore({ clock, timeoutMs, what: 'heartbeat' }, (call) => store.heartbeat(request, call));
    const reports = new Map(reply.roles.map((report) => [report.role, report]));
    announce(options, sentAt, { outcome: 'ok', reports: reply.roles, asked: asks.size });
    const answers = [...asks.values()].map((asked) => ({ ...asked, report: reports.get(asked.lease.role) }));
    return { sentAt, answers, members: reply.members };
  } catch (error) {
    announceFailure(options, { sentAt, asked: asks.size, error });
    return { sentAt, answers: [], error };
  }
}

type Asks = ReadonlyMap<string, { readonly lease: ManagedLease; readonly ask: LeaseAsk }>;

function composeRequest(asks: Asks, options: TurnOptions): HeartbeatRequest {
  const renew: RenewRequest[] = [];
  const acquire: AcquireRequest[] = [];
  const observe: string[] = [];
  for (const [role, { lease, ask }] of asks) {
    if (ask.kind === 'renew') renew.push({ role, fencingToken: ask.fencingToken, ...onlyIf(ask.onlyAsMember) });
    else if (ask.kind === 'acquire') acquire.push(acquireRequest(lease, ask.onlyAsMember));
    else observe.push(role);
  }
  const { instance, instanceTtlMs, membership } = options;
  return { instance, instanceTtlMs, renew, acquire, observe, ...(membership === undefined ? {} : { membership }) };
}

function acquireRequest({ role, timing, highestToken }: ManagedLease, onlyAsMember: boolean): AcquireRequest {
  return { role, leaseMs: timing.leaseMs, tokenFloor: highestToken, ...onlyIf(onlyAsMember) };
}

function onlyIf(onlyAsMember: boolean): { readonly onlyAsMember?: boolean } {
  return onlyAsMember ? { onlyAsMember } : {};
}

interface Announcement {
  readonly outcome: 'ok' | 'error' | 'timeout';
  readonly reports: readonly RoleReport[];
  readonly asked: number;
  readonly error?: unknown;
}

type From = Pick<TurnOptions, 'clock' | 'instance'>;

/** A heartbeat that failed, or could not be sent. */
export function announceFailure(
  from: From,
  { sentAt, asked, error }: { readonly sentAt: Pick<SentAt, 'monotonic'>; readonly asked: number; readonly error: unknown },
): void {
  const outcome = isLeaseholdError(error, 'LEASEHOLD_STORE_TIMEOUT') ? 'timeout' : 'error';
  announce(from, sentAt, { outcome, reports: [], asked, error });
}

function announce({ clock, instance }: From, sentAt: Pick<SentAt, 'monotonic'>, { reports, ...rest }: Announcement): void {
  publish('leasehold:heartbeat', {
    instance: instance.id,
    durationMs: clock.monotonic() - sentAt.monotonic,
    renewed: reports.filter((report) => report.outcome === 'renewed').length,
    acquired: reports.filter((report) => report.outcome === 'acquired').length,
    ...rest,
  });
}
