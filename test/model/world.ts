import type { Duration } from '../../packages/core/src/index.ts';
import { MemoryDatabase, type MemoryTransaction } from '../../packages/core/src/memory/index.ts';
import { type ManualClock, manualClock } from '../../packages/testing/src/manual-clock.ts';
import { MICROTASKS } from './evidence.ts';
import { Instance, type InstanceSetup } from './instance.ts';
import { auditEnds, look, lookAtEveryTerm, type Looked } from './invariants.ts';
import { RowLedger } from './row-ledger.ts';
import { type AnnouncedTerm, TermJournal } from './term-journal.ts';

export interface WorldSetup {
  readonly instances: readonly InstanceSetup[];
  readonly roles: number;
  /** Whether there is a time of peace, in which roles change hands, before all stop. */
  readonly handsOver: boolean;
  /**
   * How often the invariants are looked at. Looking lets a lease notice its deadline, so what is only true because
   * somebody looks shows in the runs that look seldom.
   */
  readonly looks: 'every microtask' | 'every event' | 'every step';
}

interface OpenFence {
  readonly by: symbol;
  readonly end: () => void;
}

/** Several instances, one store, one time: what the commands act on. */
export class World implements Looked, Disposable {
  readonly shared: ManualClock = manualClock();
  readonly database: MemoryDatabase = new MemoryDatabase({ clock: this.shared });
  readonly roles: readonly string[];
  readonly rows: RowLedger;
  readonly journal: TermJournal;
  /** Those that live or are frozen, by place; a restart puts another into the place. */
  readonly places: Instance[] = [];
  /** All that ever ran. */
  readonly instances: Instance[] = [];
  turn = 0;
  readonly setup: WorldSetup;
  readonly #violations: string[] = [];
  readonly #fences: OpenFence[] = [];

  constructor(setup: WorldSetup) {
    this.setup = setup;
    this.roles = Array.from({ length: setup.roles }, (_, index) => `role-${index}`);
    this.rows = new RowLedger({ now: () => this.shared.monotonic(), violate: this.violate });
    const find = (id: string): Instance | undefined => this.instances.find((instance) => instance.id === id);
    this.journal = new TermJournal({ rows: this.rows, find, violate: this.violate });
    for (const index of setup.instances.keys()) this.restart(index);
  }

  [Symbol.dispose](): void {
    this.journal[Symbol.dispose]();
  }

  readonly violate = (what: string): void => {
    this.#violations.push(`at ${this.shared.monotonic()} ms: ${what}`);
  };

  at(place: number): Instance {
    return this.places[place % this.places.length] as Instance;
  }

  /** Another process in this place. The one before it, if it still runs, is killed. */
  restart(place: number): void {
    const index = place % this.setup.instances.length;
    this.places[index]?.clock.kill();
    const setup = this.setup.instances[index] as InstanceSetup;
    const name = `i${index}-${this.instances.length}`;
    const { shared, database, rows, roles, violate } = this;
    const instance = new Instance(name, setup, { shared, database, rows, roles, violate, onEvent: () => this.#onEvent() });
    this.places[index] = instance;
    this.instances.push(instance);
  }

  stepDown(instance: Instance, role: string, standAside: Duration | 'until-told'): void {
    const open = this.journal.open(instance, role);
    if (open !== undefined) open.asked = 'LEASEHOLD_TERM_STEPPED_DOWN';
    void instance.lease(role).stepDown({ standAside });
    if (instance.lease(role).isHeld) this.violate(`${role} is held on ${instance.name} after stepDown()`);
  }

  async advance(ms: number): Promise<void> {
    await this.shared.advance(ms);
    await this.settle();
    auditEnds(this);
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    await this.shared.advance(0);
    await this.shared.advance(0);
  }

  /** Ends one step of the model: throws what the invariants found. */
  async endStep(): Promise<void> {
    await this.settle();
    this.#look();
    lookAtEveryTerm(this);
    this.throwViolations();
  }

  throwViolations(): void {
    if (this.#violations.length > 0) throw new Error([...new Set(this.#violations)].slice(0, 5).join('\n'));
  }

  #look(): void {
    this.turn += 1;
    look(this);
  }

  #onEvent(): void {
    if (this.setup.looks === 'every step') return;
    this.#look();
    if (this.setup.looks === 'every microtask') void this.#lookOn();
  }

  async #lookOn(): Promise<void> {
    for (let count = 0; count < MICROTASKS; count += 1) {
      await Promise.resolve();
      this.#look();
    }
  }

  /** Opens a transaction, fences the term in it and leaves it open if that passed. It has to pass exactly if the term is current. */
  async openFence({ by, term }: AnnouncedTerm): Promise<void> {
    const expected = this.rows.isCurrent(term);
    const symbol = Symbol(by.name);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let passed: boolean | undefined;
    const work = async (transaction: MemoryTransaction): Promise<void> => {
      passed = await term.fence(transaction).then(
        () => true,
        () => false,
      );
      if (passed) await ended;
    };
    void this.database.transaction(work);
    await this.settle();
    if (passed !== expected) this.violate(`the fence of term ${term.fencingToken} of ${term.role} on ${by.name}: ${passed}`);
    if (passed !== true) return;
    this.rows.fence(term.role, symbol);
    this.#fences.push({ by: symbol, end });
  }

  async endFence(index: number): Promise<void> {
    const [fence] = this.#fences.splice(index % Math.max(1, this.#fences.length), 1);
    if (fence === undefined) return;
    this.rows.endFence(fence.by);
    fence.end();
    await this.settle();
  }

  async endFences(): Promise<void> {
    while (this.#fences.length > 0) await this.endFence(0);
  }

  /** Only ever shorter: a longer lease may stand vacant for longer, by the operator's own wish. */
  shortenLease(role: string, leaseMs: number): void {
    if (leaseMs >= this.rows.leaseMsOf(role)) return;
    this.database.changeLease(role, leaseMs);
    this.rows.changeLease(role, leaseMs);
  }

  deleteRow(role: string): void {
    // A real store would make the operator wait for the fenced transaction.
    if (this.rows.isFenced(role)) return;
    this.database.deleteRow(role);
    this.rows.deleteRow(role);
  }
}
