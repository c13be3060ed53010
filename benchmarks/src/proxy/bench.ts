import { progress } from '../support/progress.ts';
import type { Scenario } from './answers.ts';
import type { Effort } from './options.ts';
import type { Reading } from './processes/meter.ts';
import { type CpuPlan, planCpus } from './processes/cpus.ts';
import { BenchProcess } from './processes/start.ts';
import { type Slot, type Slots, toSlot } from './ratios.ts';

/** Where load is sent, and the process whose requests and CPU time are then read. */
export interface Subject {
  readonly name: string;
  readonly origin: string;
  readonly process: BenchProcess;
}

export interface Turns {
  readonly title: string;
  /** How long rounds are begun. */
  readonly forMs: number;
}

const LEAD_REQUESTS = 100;
const FEWEST_ROUNDS = 3;

/** What all measurements share: the holder, the load, and the CPUs that they run on. */
export class Bench implements Disposable {
  readonly cpus: CpuPlan = planCpus();
  readonly holder: BenchProcess;
  readonly load: BenchProcess;
  readonly effort: Effort;
  /** What went wrong under load: a proxy that drops requests is fast. */
  readonly failures: string[] = [];
  readonly #processes: BenchProcess[] = [];

  constructor(effort: Effort) {
    this.effort = effort;
    this.holder = this.start('holder.ts');
    this.load = this.start('load.ts');
  }

  start(file: string, { args = [], measured = false }: { args?: readonly string[]; measured?: boolean } = {}): BenchProcess {
    const place = measured ? { cpus: this.cpus.measured } : { cpus: this.cpus.others };
    const started = new BenchProcess(file, { ...place, args });
    this.#processes.push(started);
    return started;
  }

  /** Until its code is compiled. */
  async warmUp(subject: Subject, scenario: Scenario): Promise<void> {
    await this.#load(subject, scenario, this.effort.warmUpRequests);
  }

  /** As much work for everybody, however long that takes: a machine that is busy with something else then measures less often, and not less. */
  async measure(subject: Subject, scenario: Scenario): Promise<Slot> {
    // Connections that were closed meanwhile are opened before.
    await this.#load(subject, scenario, LEAD_REQUESTS);
    const before = await subject.process.call<Reading>('read');
    await this.#load(subject, scenario, scenario.requests);
    return toSlot(before, await subject.process.call<Reading>('read'));
  }

  /** Measures all subjects in turn, again and again: neighbours in time have the same machine. */
  async measureInTurn(subjects: readonly Subject[], scenario: Scenario, { title, forMs }: Turns): Promise<Slots> {
    const slots: Record<string, Slot[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]));
    const until = performance.now() + forMs;
    for (let round = 1; round <= FEWEST_ROUNDS || performance.now() < until; round += 1) {
      progress(`${title}: round ${round}`);
      for (const subject of subjects) slots[subject.name]?.push(await this.measure(subject, scenario));
    }
    return slots;
  }

  async #load({ name, origin }: Subject, scenario: Scenario, requests: number): Promise<void> {
    const failures = await this.load.call<string[]>('run', { origin, scenario, requests });
    if (failures.length > 0) this.failures.push(`${name}, ${scenario.title}: ${failures.length} of ${requests}: ${failures[0]}`);
  }

  [Symbol.dispose](): void {
    for (const started of this.#processes) started[Symbol.dispose]();
  }
}
