import { createLeasehold, type Leasehold, type LeaseholdOptions, silentLogger, type StoreCall } from '@leasehold/core';
import { type PostgresStore, postgresStore, type PostgresStoreOptions } from '@leasehold/core/postgres';
import { onTestFinished } from 'vitest';
import type { TestDatabase } from '../../../../test/support/database.ts';

export interface InstanceOptions extends LeaseholdOptions {
  readonly postgres?: PostgresStoreOptions;
}

/** An instance on the test's own schema; stopped when the test ends. */
export function instanceOn(database: TestDatabase, { postgres = {}, ...options }: InstanceOptions = {}): Leasehold {
  const leasehold = createLeasehold({ store: storeOn(database, postgres), ...options });
  onTestFinished(() => leasehold[Symbol.asyncDispose]());
  return leasehold;
}

export function storeOn({ connectionString, schema }: TestDatabase, options: PostgresStoreOptions = {}): PostgresStore {
  const source = options.pool === undefined && options.connection === undefined ? { connectionString } : {};
  return postgresStore({ schema, ...source, ...options });
}

export function callWithin(timeoutMs: number): StoreCall {
  return { timeoutMs, signal: AbortSignal.timeout(timeoutMs) };
}

/** A store opened for the instance `id`, without a Leasehold around it. */
export async function openStore(database: TestDatabase, id: string, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
  const store = storeOn(database, options);
  onTestFinished(() => store.close());
  const context = { instance: instance(id), logger: silentLogger, longestCallMs: 10_000, wakeUp: () => {} };
  await store.open(context, callWithin(10_000));
  return store;
}

export function instance(id: string): { id: string; label: string; address: string | null } {
  return { id, label: id, address: `http://${id}.test:80` };
}
