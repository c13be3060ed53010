export { resolveAddress } from './address.ts';
export { type Clock, type ClockTimer, delay, systemClock } from './clock.ts';
export {
  type DiagnosticChannel,
  diagnosticChannels,
  type DiagnosticMessages,
  type HeartbeatMessage,
  type TermLostMessage,
  type TermMessage,
  type WorkClaimedMessage,
  type WorkFailedMessage,
  type WorkRowMessage,
  type WorkSettledMessage,
} from './diagnostics.ts';
export { type Duration, type DurationBounds, type DurationUnit, resolveDuration } from './duration.ts';
export {
  errorCodes,
  isLeaseholdError,
  LeaseholdError,
  type LeaseholdErrorCode,
  type LeaseholdErrorDetails,
  showValue,
} from './errors.ts';
export type { InstanceOptions } from './instance.ts';
export { createLeasehold, type Leasehold } from './leasehold.ts';
export type { LeaseholdOptions, Startup } from './leasehold-options.ts';
export type { RepeatedWork } from './lease/every.ts';
export type { RoleOptions, TimingOptions } from './lease/lease-options.ts';
export type { Random } from './lease/pacing.ts';
export type { LeaseRegistry } from './lease/registry.ts';
export type { LeaseState, RoleLease, StepDownOptions, StepDownOutcome, WhileHeldResult } from './lease/role-lease.ts';
export type { Term } from './lease/term.ts';
export type { PartitionOptions } from './partition/partition-options.ts';
export type { PartitionLease, RolePartition } from './partition/role-partition.ts';
export { type Logger, silentLogger } from './logger.ts';
export { MEMBER_AFTERLIFE_MS } from './store/lease-store.ts';
export type * from './store/lease-store.ts';
