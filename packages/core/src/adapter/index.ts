/** What the adapters of frameworks share. Not for applications. */
export { type AnyRole, invalidOption, leaseholdFrom, resolveRoles } from './leasehold-settings.ts';
export { guardLogger } from '../logger.ts';
export { requireKnown } from '../require-option.ts';
export { StartedLeasehold } from './started-leasehold.ts';
