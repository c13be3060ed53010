import {
  createLeasehold,
  type Leasehold,
  LeaseholdError,
  type LeaseholdOptions,
  type LeaseStore,
  type Logger,
  type RoleOptions,
  showValue,
} from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import type { PostgresStoreOptions } from '@leasehold/core/postgres';
import type { Advertise } from '@leasehold/proxy';
import type { RoleName } from './role-names.ts';

/** A role with options of its own. */
export interface NamedRole extends RoleOptions {
  readonly name: RoleName;
}

interface CommonOptions {
  /** The roles that this application competes for. @default none; `app.leasehold.role()` adds more */
  readonly roles?: readonly (RoleName | NamedRole)[];
  /**
   * Where the other instances reach this one, told to them once the server listens: the address that it listens on, a URL,
   * or a function that answers one.
   *
   * @default 'auto', or `instance.address` where that is given
   */
  readonly advertise?: Advertise;
}

/** Inside, where the application's own names are not known. */
type AnyRole = RoleOptions & { readonly name: string };

/** The plugin makes the Leasehold: from a `store`, or on PostgreSQL from `connectionString`, `connection` or `pool`. */
export interface OwnLeaseholdOptions extends CommonOptions, LeaseholdOptions, PostgresStoreOptions {
  readonly leasehold?: never;
}

/** The Leasehold exists already. The plugin starts it unless that was done before, and stops it if it has started it. */
export interface GivenLeaseholdOptions extends CommonOptions {
  readonly leasehold: Leasehold;
}

export type RoleLeasePluginOptions = OwnLeaseholdOptions | GivenLeaseholdOptions;

const CONNECTIONS = ['connectionString', 'connection', 'pool'] as const satisfies (keyof PostgresStoreOptions)[];
const SETTINGS = ['schema', 'migrate', 'keepTerms'] as const satisfies (keyof PostgresStoreOptions)[];
const OF_CONNECTION: ReadonlySet<string> = new Set(CONNECTIONS);
const OF_POSTGRES: ReadonlySet<string> = new Set([...CONNECTIONS, ...SETTINGS]);

/** Belong to the plugin, or to Fastify's `register`. */
const NOT_OF_LEASEHOLD: ReadonlySet<string> = new Set([
  'roles',
  'advertise',
  'leasehold',
  'prefix',
  'logLevel',
  'logSerializers',
]);

/**
 * The Leasehold that the options ask for, with its roles registered and not started.
 *
 * @throws {LeaseholdError} whatever `createLeasehold`, `postgresStore` and `Leasehold.role` throw; LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(options: RoleLeasePluginOptions, logger: Logger): Promise<Leasehold> {
  const roles = resolveRoles(options.roles);
  if (options.leasehold === undefined) {
    const leasehold = createLeasehold(await leaseholdOptions(options, logger));
    registerRoles(leasehold, roles);
    return leasehold;
  }
  requireNothingElse(options);
  rehearse(options.leasehold, roles);
  registerRoles(options.leasehold, roles);
  return options.leasehold;
}

function resolveRoles(roles: unknown = []): readonly AnyRole[] {
  if (!Array.isArray(roles)) throw invalid('roles', roles, "give an array, such as ['maintenance']");
  return roles.map((role: unknown, index) => {
    if (typeof role === 'string') return { name: role };
    if (typeof role === 'object' && role !== null && 'name' in role) return role as AnyRole;
    throw invalid(`roles[${index}]`, role, "give a name, or an object such as { name: 'maintenance', maxHold: '1h' }");
  });
}

function registerRoles(leasehold: Leasehold, roles: readonly AnyRole[]): void {
  for (const { name, ...options } of roles) leasehold.role(name, options);
}

/** Nothing may stay registered on a Leasehold of somebody else's when a later name turns out to be invalid or taken. */
function rehearse(leasehold: Leasehold, roles: readonly AnyRole[]): void {
  const rehearsal = createLeasehold({ store: memoryStore() });
  for (const { role } of leasehold.leases) rehearsal.role(role);
  for (const { name } of roles) rehearsal.role(name);
}

async function leaseholdOptions(options: OwnLeaseholdOptions, logger: Logger): Promise<LeaseholdOptions> {
  const given = Object.entries(options).filter(([name]) => !NOT_OF_LEASEHOLD.has(name));
  const others = Object.fromEntries(given.filter(([name]) => !OF_POSTGRES.has(name))) as LeaseholdOptions;
  const merged = { ...others, logger: others.logger ?? logger };
  // A connection that is undefined is a forgotten environment variable, and not a wish for the memory of this process.
  const meant = given.filter(([name, value]) => OF_POSTGRES.has(name) && (value !== undefined || OF_CONNECTION.has(name)));
  const contradiction = meant.find(([, value]) => value !== undefined);
  if (others.store === undefined) {
    return meant.length === 0 ? merged : { ...merged, store: await createPostgresStore(Object.fromEntries(meant)) };
  }
  if (contradiction !== undefined) throw invalid(...contradiction, 'leave it out: a store is given, which brings its own');
  return merged;
}

/** Loaded only here: `pg` need not be installed where another store is given. */
async function createPostgresStore(options: PostgresStoreOptions): Promise<LeaseStore> {
  const { postgresStore } = await import('@leasehold/core/postgres');
  return postgresStore(options);
}

function requireNothingElse(options: GivenLeaseholdOptions): void {
  const { leasehold } = options;
  if (typeof leasehold !== 'object' || leasehold === null || typeof leasehold.start !== 'function') {
    throw invalid('leasehold', leasehold, 'give what createLeasehold() returned');
  }
  const other = Object.entries(options).find(([name, value]) => value !== undefined && !NOT_OF_LEASEHOLD.has(name));
  if (other !== undefined) throw invalid(...other, 'give it to createLeasehold() instead, as a leasehold is given');
}

function invalid(option: string, value: unknown, fix: string): LeaseholdError {
  const shown = option === 'connectionString' ? 'given' : showValue(value);
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${shown}; ${fix}.`, { option });
}
