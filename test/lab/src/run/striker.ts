import type { Reach, StruckFault } from '../checker/history.ts';
import { nowUs } from '../monotonic.ts';
import type { PlannedFault } from '../plan/fault.ts';
import type { Fleet } from '../processes/fleet.ts';
import type { Slot } from '../processes/slot.ts';
import type { Bench, DatabaseVerb, ProcessVerb, RowVerb, StrikeBase, Verb } from '../verbs/verb.ts';
import { until, waitFor } from './wait.ts';

/** As many stay well, whatever is planned: a process that recovers slowly must not leave nobody to take over. */
const ALWAYS_WELL = 2;
const PATIENCE_MS = 10_000;
const RECOVERY_MS = 1_000;

export interface StrikerOptions {
  readonly bench: Bench;
  readonly fleet: Fleet;
  readonly verbs: readonly Verb[];
  readonly signal: AbortSignal;
}

/** Carries out a plan, and writes down what struck whom and when. */
export class Striker {
  readonly struck: StruckFault[] = [];
  readonly #options: StrikerOptions;
  #database: Promise<void> = Promise.resolve();

  constructor(options: StrikerOptions) {
    this.#options = options;
  }

  /** Resolves when the last fault has struck and all have healed. */
  async carryOut(plan: readonly PlannedFault[]): Promise<void> {
    const { signal } = this.#options;
    const startedAt = performance.now();
    const running: Promise<void>[] = [];
    for (const fault of plan) {
      await waitFor(Math.max(0, startedAt + fault.atMs - performance.now()), signal);
      if (signal.aborted) break;
      running.push(this.#strike(fault).catch((error: unknown) => this.#failed(fault, error)));
    }
    await Promise.all(running);
  }

  async #strike(fault: PlannedFault): Promise<void> {
    const { bench, verbs } = this.#options;
    const verb = verbs.find(({ kind }) => kind === fault.kind);
    if (verb === undefined) throw new Error(`There is no verb ${fault.kind}.`);
    const { lastsMs, draw } = fault;
    const strike = { bench, lastsMs, draw, role: bench.roles[fault.role] ?? '' };
    if (verb.strikes === 'process') return this.#strikeProcess(verb, strike, fault);
    if (verb.strikes === 'row') return this.#strikeRow(verb, strike);
    const before = this.#database;
    const striking = before.then(() => this.#strikeDatabase(verb, strike));
    this.#database = striking.catch(() => {});
    return striking;
  }

  /** A fault that could not be carried out fails the run, and lets it go on. */
  #failed({ kind }: PlannedFault, error: unknown): void {
    this.#options.bench.onFailure(`${kind} could not be carried out: ${error instanceof Error ? error.message : String(error)}`);
  }

  async #strikeProcess(verb: ProcessVerb, strike: StrikeBase, fault: PlannedFault): Promise<void> {
    const slot = await this.#chooseVictim(fault);
    if (slot === undefined) return;
    await this.strikeSlot(verb, slot, strike);
    await this.#options.bench.wait(RECOVERY_MS);
    slot.ill = false;
  }

  /** Strikes the one process given. */
  async strikeSlot(verb: ProcessVerb, slot: Slot, strike: StrikeBase): Promise<void> {
    const touched = verb.harmless !== true && slot.instance !== null;
    const reach: Reach = { of: 'instances', instances: touched ? [slot.instance] : [] };
    const from = nowUs();
    const record = this.#record({ kind: verb.kind, reach, from, to: Number.POSITIVE_INFINITY });
    await verb.strike({ ...strike, slot });
    if (verb.endsInstance !== true) record(nowUs());
  }

  async #strikeRow(verb: RowVerb, strike: StrikeBase): Promise<void> {
    const reach: Reach = { of: 'roles', roles: verb.stallsRole ? [strike.role] : [] };
    const record = this.#record({ kind: verb.kind, reach, from: nowUs(), to: Number.POSITIVE_INFINITY });
    await verb.strike(strike);
    record(nowUs());
  }

  async #strikeDatabase(verb: DatabaseVerb, strike: StrikeBase): Promise<void> {
    if (this.#options.signal.aborted) return;
    const record = this.#record({ kind: verb.kind, reach: { of: 'all' }, from: nowUs(), to: Number.POSITIVE_INFINITY });
    await verb.strike(strike);
    record(nowUs());
  }

  /** Notes the fault now; the answer sets when it was over. */
  #record(fault: StruckFault): (to: number) => void {
    const index = this.struck.push(fault) - 1;
    return (to) => void (this.struck[index] = { ...fault, to });
  }

  /** Whoever holds the role, or the process planned, or the next one that is well; nobody when too many are ill for long. */
  async #chooseVictim(fault: PlannedFault): Promise<Slot | undefined> {
    let victim: Slot | undefined;
    await until(
      async () => {
        const holder = fault.preferHolder ? (await this.#options.bench.admin.holders()).get(this.#roleOf(fault)) : undefined;
        victim = this.#firstWell(fault.slot, holder);
        if (victim !== undefined) victim.ill = true;
        return victim !== undefined;
      },
      { deadlineMs: PATIENCE_MS, signal: this.#options.signal },
    );
    return victim;
  }

  #roleOf({ role }: PlannedFault): string {
    return this.#options.bench.roles[role] ?? '';
  }

  #firstWell(from: number, holder: string | undefined): Slot | undefined {
    const { slots } = this.#options.fleet;
    const fewest = Math.min(ALWAYS_WELL, slots.length - 1);
    if (slots.filter((slot) => slot.isWell).length <= fewest) return undefined;
    const holding = slots.find((slot) => slot.isWell && slot.instance === holder);
    const ring = [...slots.slice(from), ...slots.slice(0, from)];
    return holding ?? ring.find((slot) => slot.isWell);
  }
}
