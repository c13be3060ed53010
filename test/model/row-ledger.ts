import type {
  HeartbeatReply,
  HeartbeatRequest,
  ReleaseReply,
  ReleaseRequest,
  RoleReport,
  TermIdentity,
} from '../../packages/core/src/index.ts';

interface Row {
  holder: string | null;
  token: bigint;
  leaseMs: number;
  expiresAt: number;
  readonly fences: Set<symbol>;
}

export interface RowLedgerOptions {
  /** The store's clock. */
  readonly now: () => number;
  readonly violate: (what: string) => void;
}

/**
 * The rows as they have to be, kept by the rules and not by the store's word: it checks every answer of the store at
 * the moment when it takes effect.
 */
export class RowLedger {
  readonly #options: RowLedgerOptions;
  readonly #rows = new Map<string, Row>();
  /** Counts the rows that a role has had, by deletions. */
  readonly #generations = new Map<string, number>();
  readonly #acquiredIn = new Map<string, number>();

  constructor(options: RowLedgerOptions) {
    this.#options = options;
  }

  beatTookEffect(request: HeartbeatRequest, reply: HeartbeatReply): void {
    const reports = new Map(reply.roles.map((report) => [report.role, report]));
    const { id } = request.instance;
    for (const { role, fencingToken } of request.renew) this.#renewed(reports.get(role), { role, holder: id, fencingToken });
    for (const { role, leaseMs, tokenFloor } of request.acquire) {
      const report = reports.get(role);
      if (report?.outcome === 'acquired') this.#acquired(report, { holder: id, leaseMs, tokenFloor });
      else if (this.#isFree(role, id)) this.#violate(`${role} was free for ${id}, and the store says ${report?.outcome}`);
    }
    for (const role of request.observe) {
      const outcome = reports.get(role)?.outcome;
      if (outcome === 'renewed' || outcome === 'acquired') this.#violate(`${role} was to be observed, and is ${outcome}`);
    }
  }

  #renewed(report: RoleReport | undefined, term: TermIdentity): void {
    const { role, fencingToken } = term;
    const renewed = report?.outcome === 'renewed';
    if (renewed !== this.isCurrent(term))
      this.#violate(`renewal of ${role} under ${fencingToken}: the store says ${report?.outcome}`);
    const row = this.#rows.get(role);
    if (renewed && row !== undefined) row.expiresAt = Math.max(row.expiresAt, this.#options.now() + row.leaseMs);
  }

  #acquired(
    { role, fencingToken }: RoleReport,
    { holder, leaseMs, tokenFloor }: { readonly holder: string; readonly leaseMs: number; readonly tokenFloor: bigint },
  ): void {
    const row = this.#rows.get(role);
    if (!this.#isFree(role, holder)) this.#violate(`${role} was taken by ${holder} from ${row?.holder}, or against a fence`);
    const above = row === undefined || row.token < tokenFloor ? tokenFloor : row.token;
    if (fencingToken <= above) this.#violate(`the token of ${role} went from ${above} to ${fencingToken}`);
    const expiresAt = this.#options.now() + leaseMs;
    this.#rows.set(role, { holder, token: fencingToken, leaseMs, expiresAt, fences: row?.fences ?? new Set() });
    this.#acquiredIn.set(keyOf({ role, holder, fencingToken }), this.#generation(role));
  }

  releaseTookEffect({ instance, roles }: ReleaseRequest, reply: ReleaseReply): void {
    for (const { role, fencingToken } of roles) {
      const row = this.#rows.get(role);
      const given = row !== undefined && row.holder === instance.id && (fencingToken === null || row.token === fencingToken);
      const outcome = reply.roles.get(role);
      if (outcome !== (given ? 'released' : 'not-held')) this.#violate(`release of ${role}: the store says ${outcome}`);
      if (!given) continue;
      row.holder = null;
      row.expiresAt = Number.NEGATIVE_INFINITY;
    }
  }

  deleteRow(role: string): void {
    this.#rows.delete(role);
    this.#generations.set(role, this.#generation(role) + 1);
  }

  /** For how long a renewal keeps the row; 0 without one. */
  leaseMsOf(role: string): number {
    return this.#rows.get(role)?.leaseMs ?? 0;
  }

  changeLease(role: string, leaseMs: number): void {
    const row = this.#rows.get(role);
    if (row !== undefined) row.leaseMs = leaseMs;
  }

  /** Whether the store has this term, live, at this moment. */
  isCurrent({ role, holder, fencingToken }: TermIdentity): boolean {
    const row = this.#rows.get(role);
    return row !== undefined && row.holder === holder && row.token === fencingToken && this.#options.now() < row.expiresAt;
  }

  /** Whether the row that gave this term was deleted since. No store can keep such a term alone in its role. */
  isOrphan(role: string, generation: number): boolean {
    return generation < this.#generation(role);
  }

  generationOf(term: TermIdentity): number {
    return this.#acquiredIn.get(keyOf(term)) ?? 0;
  }

  holderOf(role: string): string | null {
    return this.#rows.get(role)?.holder ?? null;
  }

  isFenced(role: string): boolean {
    return (this.#rows.get(role)?.fences.size ?? 0) > 0;
  }

  fence(role: string, by: symbol): void {
    this.#rows.get(role)?.fences.add(by);
  }

  endFence(by: symbol): void {
    for (const row of this.#rows.values()) row.fences.delete(by);
  }

  #isFree(role: string, holder: string): boolean {
    const row = this.#rows.get(role);
    if (row === undefined) return true;
    const vacant = row.holder === null || row.holder === holder || this.#options.now() >= row.expiresAt;
    return vacant && row.fences.size === 0;
  }

  #generation(role: string): number {
    return this.#generations.get(role) ?? 0;
  }

  #violate(what: string): void {
    this.#options.violate(what);
  }
}

function keyOf({ role, holder, fencingToken }: TermIdentity): string {
  return `${role}\n${holder}\n${fencingToken}`;
}
