/** What the adapters of frameworks share. Not for applications. */
export { resolveAdvertise, tellAddress } from './advertise.ts';
export { isEventStream } from '../event-stream.ts';
export { HolderGuard } from './holder-guard.ts';
export { interceptEvents, type ServerEventHandlers } from './server-events.ts';
