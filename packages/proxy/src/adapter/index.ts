/** What the adapters of frameworks share. Not for applications. */
export { interceptEvents, type ServerEventHandlers } from './server-events.ts';
