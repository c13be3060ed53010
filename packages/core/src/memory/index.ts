export { MemoryDatabase, type MemoryDatabaseOptions, type MemoryTransaction } from '../store/memory-database.ts';
export { memoryStore, type MemoryStoreOptions } from '../store/memory-store.ts';
