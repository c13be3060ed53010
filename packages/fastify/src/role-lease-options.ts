import { createLeasehold, type Leasehold, type LeaseholdOptions, type Logger, type RoleOptions } from '@leasehold/core';
import { type AnyRole, invalidOption, leaseholdFrom, resolveRoles } from '@leasehold/core/adapter';
import { memoryStore } from '@leasehold/core/memory';
import type { PostgresStoreOptions } from '@leasehold/core/postgres';
import type { Advertise } from '@leasehold/proxy';
import { OF_REGISTER } from './register-options.ts';
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

/** The plugin makes the Leasehold: from a `store`, or on PostgreSQL from `connectionString`, `connection` or `pool`. */
export interface OwnLeaseholdOptions extends CommonOptions, LeaseholdOptions, PostgresStoreOptions {
  readonly leasehold?: never;
}

/** The Leasehold exists already. The plugin starts it unless that was done before, and stops it if it has started it. */
export interface GivenLeaseholdOptions extends CommonOptions {
  readonly leasehold: Leasehold;
}

export type RoleLeasePluginOptions = OwnLeaseholdOptions | GivenLeaseholdOptions;

const PLACE = { name: 'roleLeasePlugin', own: ['roles', 'advertise', 'leasehold'] };
/** Belong to the plugin, or to Fastify's `register`. */
const NOT_OF_LEASEHOLD: ReadonlySet<string> = new Set([...PLACE.own, ...OF_REGISTER]);

/**
 * The Leasehold that the options ask for, with its roles registered and not started.
 *
 * @throws {LeaseholdError} whatever `createLeasehold`, `postgresStore` and `Leasehold.role` throw; LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(options: RoleLeasePluginOptions, logger: Logger): Promise<Leasehold> {
  const roles = resolveRoles(options.roles);
  if (options.leasehold === undefined) {
    const leasehold = await leaseholdFrom(settingsIn(options), logger, PLACE);
    registerRoles(leasehold, roles);
    return leasehold;
  }
  requireNothingElse(options);
  rehearse(options.leasehold, roles);
  registerRoles(options.leasehold, roles);
  return options.leasehold;
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

/** What is left for `createLeasehold` and `postgresStore`. */
function settingsIn(options: OwnLeaseholdOptions): LeaseholdOptions & PostgresStoreOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !NOT_OF_LEASEHOLD.has(name)));
}

function requireNothingElse(options: GivenLeaseholdOptions): void {
  const { leasehold } = options;
  if (typeof leasehold !== 'object' || leasehold === null || typeof leasehold.start !== 'function') {
    throw invalidOption('leasehold', leasehold, 'give what createLeasehold() returned');
  }
  const other = Object.entries(options).find(([name, value]) => value !== undefined && !NOT_OF_LEASEHOLD.has(name));
  if (other !== undefined) throw invalidOption(...other, 'give it to createLeasehold() instead, as a leasehold is given');
}
