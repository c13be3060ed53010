import type { IncomingMessage } from 'node:http';
import type { Logger } from '@leasehold/core';
import { requireKnown } from '@leasehold/core/adapter';
import type { AffinityKey, ConnectHandler, PartitionLeasehold } from '@leasehold/proxy';
import { PartitionGuard } from '@leasehold/proxy/adapter';
import { guardedBy } from './guarded-by.ts';

export interface RequirePartitionOptions {
  /** Keeps keys of different kinds apart, such as orders and customers of the same number. @default keys have no scope */
  readonly scope?: string;
  /** Where it is said that `affinityKey` failed, once until it works again. @default nothing is logged */
  readonly logger?: Logger;
}

const OPTIONS = ['scope', 'logger'] as const satisfies (keyof RequirePartitionOptions)[];

/**
 * The partition form of `requireRole`: lets a request through where the role of its affinity key is held, and answers 503 on any
 * other instance. A request without a key is answered with 400, as by `partitionHolderProxy`.
 *
 * *Gotcha:* it asks once, before the handler. What runs longer asks again, or runs under `whileHeld`; what must not happen twice
 * is fenced.
 *
 * @param affinityKey tells what of a request says where it belongs, without waiting for anything. The parameters of a route are
 * there in its own handlers, and not in `app.use()`.
 * @example
 * ```ts
 * app.get('/devices/:id', requirePartition(leasehold, 'devices', (request: express.Request) => request.params.id), handler);
 * ```
 * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE: a guard of a misspelt partition would let everything through, or nothing.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION for an option, or when the Leasehold was forgotten.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- an application has requests of its own type
export function requirePartition<Request = IncomingMessage>(
  leasehold: PartitionLeasehold,
  partition: string,
  affinityKey: (request: Request) => AffinityKey,
  options: RequirePartitionOptions = {},
): ConnectHandler {
  requireKnown('requirePartition()', options, OPTIONS);
  const { scope, logger } = options;
  return guardedBy(new PartitionGuard<Request>(leasehold, { partition, affinityKey, scope, logger }));
}
