import type { Leasehold, LeaseholdOptions, Logger, RoleOptions } from '@leasehold/core';
import type { PostgresStoreOptions } from '@leasehold/core/postgres';
import type { Advertise } from '@leasehold/proxy';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { InstallRoleHolderProxyOptions } from './install-role-holder-proxy.ts';
import type { NamedPartitions } from './partition-names.ts';
import type { RoleName } from './role-names.ts';

/** A role with options of its own. */
export interface NamedRole extends RoleOptions {
  readonly name: RoleName;
}

interface CommonSettings {
  /**
   * Where the other instances reach this one, told to them once the server listens: the address that it listens on, a URL,
   * or a function that answers one.
   *
   * @default 'auto', or the address that the Leasehold was made with
   */
  readonly advertise?: Advertise;
  /** The proxies to install, as `installRoleHolderProxy` does, in `app.init()`. @default none */
  readonly proxy?: readonly InstallRoleHolderProxyOptions[];
}

/** The module makes the Leasehold: from a `store`, or on PostgreSQL from `connectionString`, `connection` or `pool`. */
export interface OwnLeaseholdSettings extends CommonSettings, LeaseholdOptions, PostgresStoreOptions {
  readonly leasehold?: never;
}

/** The Leasehold exists already. The module starts it unless that was done before, and stops it if it has started it. */
export interface GivenLeaseholdSettings extends CommonSettings {
  readonly leasehold: Leasehold;
  /** For the lines of the module. @default Nest's */
  readonly logger?: Logger;
}

/** What a factory of `forRootAsync` answers: everything but roles and partitions, whose names the injector has to know before. */
export type LeaseholdSettings = OwnLeaseholdSettings | GivenLeaseholdSettings;

interface RoleSettings {
  /** The roles that this application competes for, each to be injected. @default none; `forFeature` adds more */
  readonly roles?: readonly (RoleName | NamedRole)[];
  /** The partitions whose roles it competes for, by name, each to be injected. @default none; `forFeature` adds more */
  readonly partitions?: NamedPartitions;
}

export type LeaseholdModuleOptions = (OwnLeaseholdSettings & RoleSettings) | (GivenLeaseholdSettings & RoleSettings);

export interface LeaseholdModuleAsyncOptions {
  /** The roles that this application competes for, each to be injected. @default none; `forFeature` adds more */
  readonly roles?: readonly (RoleName | NamedRole)[];
  /** The partitions whose roles it competes for, by name, each to be injected. @default none; `forFeature` adds more */
  readonly partitions?: NamedPartitions;
  /** Modules that provide what is in `inject`. @default none */
  readonly imports?: ModuleMetadata['imports'];
  /** What `useFactory` is called with. @default nothing */
  readonly inject?: FactoryProvider['inject'];
  /** Answers the settings, or a promise of them. */
  readonly useFactory: (...dependencies: never[]) => LeaseholdSettings | Promise<LeaseholdSettings>;
}

interface FeatureSettings {
  /** The roles that this part of the application needs. One that is registered already is shared. @default none */
  readonly roles?: readonly (RoleName | NamedRole)[];
  /** The partitions that it needs, by name. One that is declared elsewhere with the same options is shared. @default none */
  readonly partitions?: NamedPartitions;
}

/** Roles, partitions, or both. */
export type LeaseholdFeatureOptions = FeatureSettings &
  (Required<Pick<FeatureSettings, 'roles'>> | Required<Pick<FeatureSettings, 'partitions'>>);
