import { createLeasehold, type Leasehold } from '../leasehold.ts';
import { LEASEHOLD_OPTIONS, type LeaseholdOptions } from '../leasehold-options.ts';
import type { Logger } from '../logger.ts';
import type { PostgresStoreOptions } from '../postgres/postgres-store.ts';
import { requireKnown } from '../require-option.ts';
import type { LeaseStore } from '../store/lease-store.ts';
import { invalidOption } from './invalid-option.ts';

/** Where the settings are given, as a message calls it, and the options that it has besides. */
export interface SettingsPlace {
  readonly name: string;
  readonly own: readonly string[];
}

const CONNECTIONS = ['connectionString', 'connection', 'pool'] as const satisfies (keyof PostgresStoreOptions)[];
const SETTINGS = ['schema', 'migrate', 'keepTerms'] as const satisfies (keyof PostgresStoreOptions)[];
const OF_CONNECTION: ReadonlySet<string> = new Set(CONNECTIONS);
const OF_POSTGRES: ReadonlySet<string> = new Set([...CONNECTIONS, ...SETTINGS]);

/**
 * The Leasehold that settings ask for, not started: with their `store`, or on PostgreSQL, or in the memory of this process.
 *
 * @param settings options of `createLeasehold` and of `postgresStore`, and nothing else.
 * @param logger where the settings name none.
 * @param place for the message about an option that there is not.
 * @throws {LeaseholdError} whatever `createLeasehold` and `postgresStore` throw; LEASEHOLD_INVALID_OPTION
 */
export async function leaseholdFrom(
  settings: LeaseholdOptions & PostgresStoreOptions,
  logger: Logger,
  place: SettingsPlace,
): Promise<Leasehold> {
  requireKnown(place.name, settings, [...place.own, ...OF_POSTGRES, ...LEASEHOLD_OPTIONS]);
  const given = Object.entries(settings);
  const options: LeaseholdOptions = Object.fromEntries(given.filter(([name]) => !OF_POSTGRES.has(name)));
  const store = await resolveStore(options.store, given);
  return createLeasehold({ ...options, logger: options.logger ?? logger, ...(store === undefined ? {} : { store }) });
}

async function resolveStore(store: LeaseStore | undefined, given: [string, unknown][]): Promise<LeaseStore | undefined> {
  // A connection that is undefined is a forgotten environment variable, and not a wish for the memory of this process.
  const meant = given.filter(([name, value]) => OF_POSTGRES.has(name) && (value !== undefined || OF_CONNECTION.has(name)));
  if (store === undefined) return meant.length === 0 ? undefined : createPostgresStore(Object.fromEntries(meant));
  const contradiction = meant.find(([, value]) => value !== undefined);
  if (contradiction !== undefined) throw invalidOption(...contradiction, 'leave it out: a store is given, which brings its own');
  return store;
}

/** Loaded only here: `pg` need not be installed where another store is given. */
async function createPostgresStore(options: PostgresStoreOptions): Promise<LeaseStore> {
  const { postgresStore } = await import('../postgres/index.ts');
  return postgresStore(options);
}
