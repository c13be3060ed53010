/** What the adapters of frameworks share. Not for applications. */
export {
  type AnyPartition,
  type AnyRole,
  hasPartition,
  registerAllOrNone,
  registerDeclared,
  resolvePartitions,
  resolveRoles,
} from './declared.ts';
export { invalidOption } from './invalid-option.ts';
export { leaseholdFrom } from './leasehold-settings.ts';
export { guardLogger } from '../logger.ts';
export { requireKnown } from '../require-option.ts';
export { StartedLeasehold } from './started-leasehold.ts';
