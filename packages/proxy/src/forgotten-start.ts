import type { Logger } from '@leasehold/core';
import type { ThisInstance } from './target.ts';

const said = new WeakSet<ThisInstance>();

/** Nothing else would say that nobody has called `start()`: each request would be refused for ever. Said once. */
export function sayForgottenStart(
  leasehold: ThisInstance,
  { logger, hasLogger }: { readonly logger: Logger; readonly hasLogger: boolean },
): void {
  if (leasehold.hasStarted !== false || said.has(leasehold)) return;
  said.add(leasehold);
  const message =
    'a request was refused by an instance whose Leasehold is not started: it competes for no role and knows no holder; call leasehold.start(), or leaseholdLifecycle() of Express';
  if (hasLogger) logger.warn({ instance: leasehold.instance.id }, message);
  else process.emitWarning(message, { type: 'LeaseholdWarning', code: 'LEASEHOLD_NOT_STARTED' });
}
