import {
  createLeasehold,
  type Leasehold,
  LeaseholdError,
  type LeaseholdOptions,
  type LeaseStore,
  type RoleOptions,
  showValue,
} from '@leasehold/core';
import type { PostgresStoreOptions } from '@leasehold/core/postgres';
import type { InstallRoleHolderProxyOptions } from './install-role-holder-proxy.ts';
import type { GivenLeaseholdSettings, LeaseholdSettings, OwnLeaseholdSettings } from './module-options.ts';
import { nestLogger } from './nest-logger.ts';

/** Inside, where the application's own names are not known. */
export type AnyRole = RoleOptions & { readonly name: string };

const CONNECTIONS = ['connectionString', 'connection', 'pool'] as const satisfies (keyof PostgresStoreOptions)[];
const SETTINGS = ['schema', 'migrate', 'keepTerms'] as const satisfies (keyof PostgresStoreOptions)[];
const OF_CONNECTION: ReadonlySet<string> = new Set(CONNECTIONS);
const OF_POSTGRES: ReadonlySet<string> = new Set([...CONNECTIONS, ...SETTINGS]);
/** Belong to the module. */
const NOT_OF_LEASEHOLD: ReadonlySet<string> = new Set(['advertise', 'proxy', 'leasehold']);

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveRoles(roles: unknown = []): readonly AnyRole[] {
  if (!Array.isArray(roles)) throw invalid('roles', roles, "give an array, such as ['maintenance']");
  return roles.map((role: unknown, index) => {
    if (typeof role === 'string') return { name: role };
    if (typeof role === 'object' && role !== null && 'name' in role) return role as AnyRole;
    throw invalid(`roles[${index}]`, role, "give a name, or an object such as { name: 'maintenance', maxHold: '1h' }");
  });
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveProxies({ proxy = [] }: LeaseholdSettings): readonly InstallRoleHolderProxyOptions[] {
  if (Array.isArray(proxy)) return proxy;
  throw invalid('proxy', proxy, "give an array, such as [{ role: 'maintenance', prefixes: ['/maintenance'] }]");
}

/**
 * The Leasehold that the settings ask for, not started unless it is given.
 *
 * @throws {LeaseholdError} whatever `createLeasehold` and `postgresStore` throw; LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(settings: LeaseholdSettings): Promise<Leasehold> {
  if (typeof settings !== 'object' || settings === null) {
    throw invalid('options', settings, 'give an object, such as { connectionString }');
  }
  requireNoRoles(settings);
  if (settings.leasehold === undefined) return makeLeasehold(settings);
  requireNothingElse(settings);
  return settings.leasehold;
}

async function makeLeasehold(settings: OwnLeaseholdSettings): Promise<Leasehold> {
  const given = Object.entries(settings).filter(([name]) => !NOT_OF_LEASEHOLD.has(name));
  const options: LeaseholdOptions = Object.fromEntries(given.filter(([name]) => !OF_POSTGRES.has(name)));
  const store = await resolveStore(options.store, given);
  const logger = options.logger ?? nestLogger('Leasehold');
  return createLeasehold({ ...options, logger, ...(store === undefined ? {} : { store }) });
}

function requireNothingElse(settings: GivenLeaseholdSettings): void {
  const { leasehold, logger: _, ...others } = settings;
  if (typeof leasehold !== 'object' || leasehold === null || typeof leasehold.start !== 'function') {
    throw invalid('leasehold', leasehold, 'give what createLeasehold() returned');
  }
  const other = Object.entries(others).find(([name, value]) => value !== undefined && !NOT_OF_LEASEHOLD.has(name));
  if (other !== undefined) throw invalid(...other, 'give it to createLeasehold() instead, as a leasehold is given');
}

/** A factory comes too late for them: the injector knows a role by what the module was made with. */
function requireNoRoles(settings: object): void {
  if (!('roles' in settings)) return;
  throw invalid('roles', settings.roles, 'give roles to forRootAsync() itself, beside useFactory');
}

async function resolveStore(store: LeaseStore | undefined, given: [string, unknown][]): Promise<LeaseStore | undefined> {
  // A connection that is undefined is a forgotten environment variable, and not a wish for the memory of this process.
  const meant = given.filter(([name, value]) => OF_POSTGRES.has(name) && (value !== undefined || OF_CONNECTION.has(name)));
  if (store === undefined) return meant.length === 0 ? undefined : createPostgresStore(Object.fromEntries(meant));
  const contradiction = meant.find(([, value]) => value !== undefined);
  if (contradiction !== undefined) throw invalid(...contradiction, 'leave it out: a store is given, which brings its own');
  return store;
}

/** Loaded only here: `pg` need not be installed where another store is given. */
async function createPostgresStore(options: PostgresStoreOptions): Promise<LeaseStore> {
  const { postgresStore } = await import('@leasehold/core/postgres');
  return postgresStore(options);
}

function invalid(option: string, value: unknown, fix: string): LeaseholdError {
  const shown = option === 'connectionString' ? 'given' : showValue(value);
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${shown}; ${fix}.`, { option });
}
