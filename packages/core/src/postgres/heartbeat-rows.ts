import type {
  AcquireRequest,
  HeartbeatReply,
  HeartbeatRequest,
  Member,
  Membership,
  RoleOutcome,
  RoleReport,
} from '../store/lease-store.ts';

/** One row of the heartbeat's answer; numbers arrive as text. */
export interface HeartbeatRow {
  /** `member` tells an instance in place of a role, and its membership in place of the holder. */
  readonly told: 'renewed' | 'acquired' | 'seen' | 'member' | 'entitled' | 'aside';
  readonly role: string;
  readonly holder: string | null;
  readonly address: string | null;
  readonly fencing_token: string;
  readonly remaining_ms: string;
}

/** The parameters of the heartbeat, in the order of its text. */
export function askHeartbeat(
  request: HeartbeatRequest,
  store: { readonly channel: string; readonly keepTermsMs: number },
): unknown[] {
  const { instance, renew, acquire, observe } = request;
  return [
    renew.map(({ role }) => role),
    renew.map(({ fencingToken }) => String(fencingToken)),
    acquire.map(({ role }) => role),
    acquire.map(({ leaseMs }) => leaseMs),
    acquire.map(({ tokenFloor }) => String(tokenFloor)),
    observe,
    instance.id,
    instance.label,
    instance.address,
    request.instanceTtlMs,
    store.channel,
    store.keepTermsMs,
    request.membership === undefined ? null : JSON.stringify(request.membership),
    [...renew, ...acquire].filter(({ onlyAsMember }) => onlyAsMember === true).map(({ role }) => role),
  ];
}

/** Roles to take for which there is no row. */
export function missingRoles(request: HeartbeatRequest, rows: readonly HeartbeatRow[]): AcquireRequest[] {
  const found = new Set(rows.filter(isOfRole).map(({ role }) => role));
  return request.acquire.filter(({ role }) => !found.has(role));
}

/** What may be taken right after its row was created: for a member, only if it was one before the first try declared it. */
export function takeableAtOnce(missing: readonly AcquireRequest[], rows: readonly HeartbeatRow[]): AcquireRequest[] {
  return missing.filter(mayTake(rows));
}

function mayTake(rows: readonly HeartbeatRow[]): (asked: AcquireRequest) => boolean {
  const entitled = rows.some(({ told }) => told === 'entitled');
  return ({ onlyAsMember }) => entitled || onlyAsMember !== true;
}

export function isOfRole({ told }: HeartbeatRow): boolean {
  return told === 'renewed' || told === 'acquired' || told === 'seen';
}

export function mergeReply(request: HeartbeatRequest, rows: readonly HeartbeatRow[]): HeartbeatReply {
  const roles = mergeReports(request, rows);
  return request.membership === undefined
    ? { roles }
    : { roles, members: rows.filter(({ told }) => told === 'member').map(readMember) };
}

function readMember({ role: id, holder: membership, remaining_ms: remaining }: HeartbeatRow): Member {
  return { id, live: Number(remaining) > 0, ...(JSON.parse(membership as string) as Membership) };
}

/** Turns rows into one report for each role asked for. */
function mergeReports(request: HeartbeatRequest, rows: readonly HeartbeatRow[]): RoleReport[] {
  const byRole = new Map(rows.filter(isOfRole).map((row) => [row.role, row]));
  const may = mayTake(rows);
  const { id } = request.instance;
  return [
    ...request.renew.map(({ role, fencingToken }) => {
      const token = String(fencingToken);
      return report(role, byRole.get(role), (row) => isLive(row) && row.holder === id && row.fencing_token === token);
    }),
    ...request.acquire.map((asked) => {
      const { role } = asked;
      return report(role, byRole.get(role), (row) => may(asked) && (!isLive(row) || row.holder === id));
    }),
    ...request.observe.map((role) => report(role, byRole.get(role), () => false)),
  ];
}

function isLive(row: HeartbeatRow): boolean {
  return row.holder !== null && Number(row.remaining_ms) > 0;
}

/** `wasEligible`: whether the row as it was seen could have been renewed or taken, had it not been locked. */
function report(role: string, row: HeartbeatRow | undefined, wasEligible: (row: HeartbeatRow) => boolean): RoleReport {
  if (row === undefined) return { role, outcome: 'missing', holder: null, holderAddress: null, fencingToken: 0n, remainingMs: 0 };
  return {
    role,
    outcome: outcomeOf(row, wasEligible),
    holder: row.holder,
    holderAddress: row.address,
    fencingToken: BigInt(row.fencing_token),
    remainingMs: Number(row.remaining_ms),
  };
}

function outcomeOf(row: HeartbeatRow, wasEligible: (row: HeartbeatRow) => boolean): RoleOutcome {
  if (row.told === 'renewed' || row.told === 'acquired') return row.told;
  if (wasEligible(row)) return 'busy';
  return isLive(row) ? 'held' : 'vacant';
}
