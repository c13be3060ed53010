import { LeaseholdError } from '../errors.ts';
import type { LeaseStore, StoreContext } from './lease-store.ts';
import { MemoryDatabase, type MemoryTransaction } from './memory-database.ts';

export interface MemoryStoreOptions {
  /** Rows to share with other stores of this process. @default rows of its own */
  readonly database?: MemoryDatabase;
}

/**
 * A store within one process, for development and tests, with the semantics of the PostgreSQL store. One instance alone
 * holds all its roles.
 */
export function memoryStore(options: MemoryStoreOptions = {}): LeaseStore {
  const database = options.database ?? new MemoryDatabase();
  let context: StoreContext | null = null;
  return {
    name: 'memory',
    open: async (opened) => {
      context = opened;
      database.join(opened);
    },
    heartbeat: async (request) => database.heartbeat(requireOpen(context, request)),
    release: async (request) => database.release(requireOpen(context, request)),
    fence: async (client, term) => database.fence(client as MemoryTransaction, term),
    close: async () => {
      if (context !== null) database.leave(context.instance.id);
      context = null;
    },
  };
}

function requireOpen<Request>(context: StoreContext | null, request: Request): Request {
  if (context === null)
    throw new LeaseholdError(
      'LEASEHOLD_STORE_CLOSED',
      'the memory store is not open; it is opened by start() and closed by stop().',
    );
  return request;
}
