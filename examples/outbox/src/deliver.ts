import type { Leasehold, Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import { type HandlerResult, type Job, release } from '@leasehold/core/work';
import type { Pool } from 'pg';
import { killPoint } from './kill-point.ts';
import type { Envelope } from './outbox.ts';

const EFFECT = 'insert into effects (envelope_id, order_id, role, instance, fencing_token) values ($1, $2, $3, $4, $5)';
/** The target knows by the key that it has done this already. */
const ONCE = `${EFFECT} on conflict (envelope_id) do update set repeats = effects.repeats + 1`;

/** What is done with the envelopes of each target. */
export class Deliveries {
  readonly #pool: Pool;
  readonly #leasehold: Leasehold;

  constructor(pool: Pool, leasehold: Leasehold) {
    this.#pool = pool;
    this.#leasehold = leasehold;
  }

  /** The handler of the worker. */
  async deliver(envelope: Envelope, job: Job<Envelope>): Promise<HandlerResult> {
    const { target_role: role } = envelope;
    if (role === null) return this.#announce(envelope);
    const work = (term: Term): Promise<void> =>
      role === 'billing' ? this.#bill(envelope, job, term) : this.#ship(envelope, term);
    // As work under the role, so that a stop or a step-down waits for it.
    const { ran } = await this.#leasehold.get(role).whileHeld(work);
    // The role left at this very moment: its next holder delivers this.
    return ran ? undefined : release();
  }

  /**
   * A target in the same database: its effect and the end of the envelope are one transaction, so it is not told twice, and an
   * insert without "on conflict" is enough. The fence holds up a successor until the commit.
   */
  async #bill(envelope: Envelope, job: Job<Envelope>, term: Term): Promise<void> {
    killPoint('billing:before-effect');
    await withFence(this.#pool, term, async (client) => {
      await client.query(EFFECT, effectOf(envelope, term.holder, term));
      killPoint('billing:after-effect');
      await job.finalize(client);
      killPoint('billing:in-finalize');
    });
    killPoint('billing:after-finalize');
  }

  /** A target elsewhere, reached by one call without a transaction: at least once. The key makes a repetition harmless. */
  async #ship(envelope: Envelope, term: Term): Promise<void> {
    const { item } = envelope.payload;
    const { rowCount } = await this.#pool.query('select from stock where item = $1', [item]);
    if (rowCount === 0) throw new Error(`nobody knows where "${item}" is kept`);
    killPoint('shipping:before-effect');
    await this.#pool.query(ONCE, effectOf(envelope, term.holder, term));
    killPoint('shipping:after-effect');
  }

  /** For whoever comes first: it needs no role. */
  async #announce(envelope: Envelope): Promise<void> {
    await this.#pool.query(ONCE, effectOf(envelope, this.#leasehold.instance.id, null));
  }
}

/** The token goes along: a target that remembers the highest one can refuse a holder that was frozen meanwhile. */
function effectOf({ id, payload, target_role: role }: Envelope, instance: string, term: Term | null): unknown[] {
  return [id, payload.id, role, instance, term === null ? null : String(term.fencingToken)];
}
