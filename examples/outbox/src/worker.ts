import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Leasehold } from '@leasehold/core';
import { exponential, heldRoles, type Worker } from '@leasehold/core/work';
import type { Pool } from 'pg';
import { Deliveries } from './deliver.ts';
import { outbox } from './outbox.ts';

const ACQUIRED = 'leasehold:lease.acquired';

/** Delivers the envelopes whose role is held here, and those of no role, until it is stopped. */
export function startWorker(pool: Pool, leasehold: Leasehold): Worker {
  const deliveries = new Deliveries(pool, leasehold);
  return outbox.work(pool, {
    where: heldRoles(leasehold, 'target_role'),
    handler: (envelope, job) => deliveries.deliver(envelope, job),
    concurrency: 5,
    // As short as the leases of the roles: what a killed process had claimed is due again when its roles are taken over.
    lease: '3s',
    errorColumn: 'error',
    backoff: (attempt) => exponential(attempt, { base: '200ms', max: '5s' }),
    minIdle: '50ms',
    maxIdle: '250ms',
    wakeUp,
  });
}

/** A role that is new here brings envelopes that were nobody's: they need not wait for the end of a pause. */
function wakeUp(notify: () => void): () => void {
  const onAcquired = (): void => notify();
  subscribe(ACQUIRED, onAcquired);
  return () => void unsubscribe(ACQUIRED, onAcquired);
}
