import type { IncomingMessage } from 'node:http';
import { invalidOption, requireKnown } from '@leasehold/core/adapter';
import type { AffinityKey } from '@leasehold/proxy';
import { PartitionGuard } from '@leasehold/proxy/adapter';
import { applyDecorators, type ExecutionContext, UseGuards } from '@nestjs/common';
import { guardClass } from './guard-class.ts';
import { noteUse } from './named-uses.ts';
import type { KeyScope, PartitionName } from './partition-names.ts';

/**
 * The partition form of `RequireRole`: lets a request through where the role of its affinity key is held, and answers 503
 * elsewhere. A request without a key is answered with 400, as by `installPartitionHolderProxy`.
 *
 * ```ts
 * @Get('devices/:id')
 * @RequirePartition('devices', (request: Request) => request.params.id)
 * ```
 *
 * *Gotcha:* it looks once. The role can be lost while the handler runs: what must not happen then belongs behind `whileHeld`
 * or a fence.
 *
 * `app.init` rejects with LEASEHOLD_UNKNOWN_ROLE when the partition is not registered.
 *
 * @param affinityKey tells what of a request says where it belongs, without waiting for anything. Beside HTTP, the request is
 * the first argument of the handler.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- an application has requests of its own type
export function RequirePartition<Request = IncomingMessage>(
  partition: PartitionName,
  affinityKey: (request: Request, context: ExecutionContext) => AffinityKey,
  options: KeyScope = {},
): ClassDecorator & MethodDecorator {
  if (typeof affinityKey !== 'function') throw invalidOption('affinityKey', affinityKey, 'give a function of the request');
  requireKnown('RequirePartition()', options, ['scope']);
  const { scope } = options;
  const keyOf = (context: ExecutionContext): AffinityKey => affinityKey(context.getArgByIndex<Request>(0), context);
  return applyDecorators(
    (target: object, method?: string | symbol) =>
      noteUse(target, { decorator: 'RequirePartition', kind: 'partition', name: partition, method: method ?? null }),
    UseGuards(
      guardClass(({ leasehold, logger }) => new PartitionGuard(leasehold, { partition, affinityKey: keyOf, scope, logger })),
    ),
  );
}
