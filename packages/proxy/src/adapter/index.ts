/** What the adapters of frameworks share. Not for applications. */
export { resolveAdvertise, tellAddress } from './advertise.ts';
export { isEventStream } from '../event-stream.ts';
export type { Guard, GuardRefusal } from './guard.ts';
export { HolderGuard } from './holder-guard.ts';
export { PartitionGuard, type PartitionGuardOptions } from './partition-guard.ts';
export { interceptEvents, type ServerEventHandlers } from './server-events.ts';
