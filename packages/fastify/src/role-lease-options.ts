import type { Leasehold, LeaseholdOptions, Logger, RoleOptions } from '@leasehold/core';
import {
  invalidOption,
  leaseholdFrom,
  registerAllOrNone,
  registerDeclared,
  resolvePartitions,
  resolveRoles,
} from '@leasehold/core/adapter';
import type { PostgresStoreOptions } from '@leasehold/core/postgres';
import type { Advertise } from '@leasehold/proxy';
import type { NamedPartitions } from './partition-names.ts';
import { OF_REGISTER } from './register-options.ts';
import type { RoleName } from './role-names.ts';

/** A role with options of its own. */
export interface NamedRole extends RoleOptions {
  readonly name: RoleName;
}

interface CommonOptions {
  /** The roles that this application competes for. @default none; `app.leasehold.role()` adds more */
  readonly roles?: readonly (RoleName | NamedRole)[];
  /** The partitions whose roles it competes for, each by its name. @default none; `app.leasehold.partition()` adds more */
  readonly partitions?: NamedPartitions;
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

const PLACE = { name: 'roleLeasePlugin', own: ['roles', 'partitions', 'advertise', 'leasehold'] };
/** Belong to the plugin, or to Fastify's `register`. */
const NOT_OF_LEASEHOLD: ReadonlySet<string> = new Set([...PLACE.own, ...OF_REGISTER]);

/**
 * The Leasehold that the options ask for, with its roles and partitions registered and not started.
 *
 * @throws {LeaseholdError} whatever `createLeasehold`, `postgresStore`, `Leasehold.role` and `Leasehold.partition` throw;
 * LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(options: RoleLeasePluginOptions, logger: Logger): Promise<Leasehold> {
  const declared = { roles: resolveRoles(options.roles), partitions: resolvePartitions(options.partitions) };
  if (options.leasehold === undefined) {
    const leasehold = await leaseholdFrom(settingsIn(options), logger, PLACE);
    registerDeclared(leasehold, declared);
    return leasehold;
  }
  requireNothingElse(options);
  registerAllOrNone(options.leasehold, declared);
  return options.leasehold;
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
