import { randomBytes } from 'node:crypto';
import type { ConformanceCase, ConformanceHarness } from './harness.ts';
import { Member, newInstance } from './member.ts';

const SHORT_LEASE_MS = 1_000;
const PATIENCE_MS = 5_000;

/** What one case plays on: instances that are closed when it ends, and names that no other case has. */
export class Stage {
  readonly harness: ConformanceHarness;
  readonly #members: Member[] = [];
  readonly #suffix = randomBytes(6).toString('hex');

  constructor(harness: ConformanceHarness) {
    this.harness = harness;
  }

  /** A role that nobody ever had. */
  role(name = 'role'): string {
    return `${name}:${this.#suffix}`;
  }

  roles(count: number): string[] {
    return Array.from({ length: count }, (_, index) => this.role(`role-${index}`));
  }

  /** An instance with an open store of its own. */
  async member(label: string, address: string | null = `http://${label}.test:80`): Promise<Member> {
    const member = new Member(this.harness.createStore(), newInstance(label, address));
    this.#members.push(member);
    await member.open();
    return member;
  }

  async pair(): Promise<[Member, Member]> {
    return [await this.member('first'), await this.member('second')];
  }

  get shortLeaseMs(): number {
    return this.harness.shortLeaseMs ?? SHORT_LEASE_MS;
  }

  get patienceMs(): number {
    return this.harness.patienceMs ?? PATIENCE_MS;
  }

  /** Lets a lease of {@link shortLeaseMs} run out. */
  async outlast(): Promise<void> {
    await this.harness.advance(this.shortLeaseMs + 50);
  }

  /** For rules that are left out where the harness cannot do it. */
  async deleteRow(role: string): Promise<void> {
    await this.harness.deleteRow?.(role);
  }

  async changeLease(role: string, leaseMs: number): Promise<void> {
    await this.harness.changeLease?.(role, leaseMs);
  }

  async lockRow(role: string, work: () => Promise<void>): Promise<void> {
    await this.harness.lockRow?.(role, work);
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ store }) => store.close()));
  }
}

/** What a store has to do, and how to find out. */
export interface Rule {
  readonly name: string;
  readonly play: (stage: Stage) => Promise<void>;
}

export function rule(name: string, play: (stage: Stage) => Promise<void>): Rule {
  return { name, play };
}

export function caseOf({ name, play }: Rule, harness: ConformanceHarness): ConformanceCase {
  const run = async (): Promise<void> => {
    const stage = new Stage(harness);
    try {
      await play(stage);
    } finally {
      await stage.close();
    }
  };
  return { name, run };
}
