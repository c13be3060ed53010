import type { Claim, Outcome, WorkTable } from '@leasehold/core/work';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type TestDatabase, test } from '../../../../test/support/database.ts';
import { createDeliveries, deliveriesOf, type Delivery, endLeases } from './support/deliveries.ts';
import { keepJournal, violations } from './support/journal.ts';

const ROWS = 8;

/** What one worker does next. What it has claimed it may settle at any later time, long after others took it. */
type Step =
  | { readonly kind: 'claim'; readonly limit: number }
  | { readonly kind: 'settle'; readonly outcome: Outcome['outcome']; readonly claim: number; readonly rows: number }
  | { readonly kind: 'renew'; readonly claim: number }
  | { readonly kind: 'dispose'; readonly claim: number }
  | { readonly kind: 'end leases' };

const some = { claim: fc.nat(3), rows: fc.integer({ min: 1, max: 4 }) };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim'), limit: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('settle'), outcome: fc.constantFrom('done', 'retry', 'release', 'bury'), ...some }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('renew'), claim: some.claim }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dispose'), claim: some.claim }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end leases') }) },
);
const histories = fc.array(fc.array(step, { minLength: 3, maxLength: 15 }), { minLength: 3, maxLength: 3 });

class Worker {
  readonly #database: TestDatabase;
  readonly #table: WorkTable<Delivery>;
  readonly #claims: Claim<Delivery>[] = [];
  /** Of each claim, by its row, what this worker has heard. */
  readonly #heard = new Map<Claim<Delivery>, Set<Delivery>>();

  constructor(database: TestDatabase) {
    this.#database = database;
    this.#table = deliveriesOf(database, { attempts: { column: 'attempts', max: 4 } });
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#take(one);
    for (const claim of this.#claims) claim.close();
  }

  async #take(step: Step): Promise<void> {
    if (step.kind === 'claim') {
      const claim = await this.#table.claim(this.#database.pool, { limit: step.limit, lease: '1h' });
      this.#claims.push(claim);
      this.#heard.set(claim, new Set());
      return;
    }
    if (step.kind === 'end leases') return endLeases(this.#database);
    const claim = this.#claims.at(-1 - step.claim);
    if (claim === undefined) return;
    if (step.kind === 'renew') await claim.renew();
    if (step.kind === 'dispose') await this.#dispose(claim);
    if (step.kind === 'settle') await this.#settle(claim, step.outcome, step.rows);
  }

  async #dispose(claim: Claim<Delivery>): Promise<void> {
    await claim[Symbol.asyncDispose]();
    for (const row of claim.rows) this.#heard.get(claim)?.add(row);
  }

  async #settle(claim: Claim<Delivery>, outcome: Outcome['outcome'], count: number): Promise<void> {
    const heard = this.#heard.get(claim) ?? new Set();
    const rows = claim.rows.filter((row) => !heard.has(row)).slice(0, count);
    const outcomes = rows.map(
      (row) => (outcome === 'retry' ? { row, outcome, after: 0 } : { row, outcome }) as Outcome<Delivery>,
    );
    await claim.settle(outcomes);
    for (const row of rows) heard.add(row);
  }
}

/** Takes what is left, as a worker that comes last does. */
async function drain(database: TestDatabase): Promise<void> {
  const table = deliveriesOf(database, { attempts: { column: 'attempts', max: 4 } });
  for (let round = 0; round < 10; round += 1) {
    await endLeases(database);
    const claim = await table.claim(database.pool, { limit: ROWS });
    if (claim.rows.length === 0 && claim.buried === 0) return;
    await claim.settle(claim.rows.map((row) => ({ row, outcome: 'done' })));
  }
}

describe('three workers in a random history', () => {
  test.for([[1], [2], [3]])(
    'never have two claims at once, and end every row by whoever holds it (seed %d)',
    { timeout: 120_000 },
    async ([seed = 1], { database }) => {
      await createDeliveries(database);
      await keepJournal(database);
      const { schema, query } = database;
      const property = fc.asyncProperty(histories, async (lanes) => {
        await query(`truncate ${schema}.deliveries, ${schema}.journal restart identity`);
        await query(
          `insert into ${schema}.deliveries (created_at) select clock_timestamp() - interval '1 h' + n * interval '1 ms' from generate_series(1, ${ROWS}) n`,
        );
        await Promise.all(lanes.map((steps) => new Worker(database).run(steps)));
        await drain(database);
        expect(await violations(database)).toEqual([]);
      });
      await fc.assert(property, { seed, numRuns: 25, endOnFailure: true });
    },
  );
});
