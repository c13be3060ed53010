import { type Leasehold, LeaseholdError, type RoleLease, type RolePartition } from '@leasehold/core';
import { type AnyPartition, type AnyRole, resolvePartitions, resolveRoles } from '@leasehold/core/adapter';
import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { declarePartition } from './declared-partitions.ts';
import { LeaseholdHealthIndicator } from './health-indicator.ts';
import { Lifecycle } from './lifecycle.ts';
import type {
  LeaseholdFeatureOptions,
  LeaseholdModuleAsyncOptions,
  LeaseholdModuleOptions,
  LeaseholdSettings,
} from './module-options.ts';
import { ModuleProxies } from './module-proxies.ts';
import { resolveLeasehold, resolveProxies } from './resolve-leasehold.ts';
import { LEASEHOLD, LEASEHOLD_SETTINGS, roleLeaseToken, rolePartitionToken } from './tokens.ts';

/**
 * Makes the instances of an application agree who holds which role. Import `forRoot` or `forRootAsync` once, in the root
 * module: it is global.
 *
 * - It competes from `onApplicationBootstrap` on, before any other module's, tells its address once the server listens, and
 *   logs to Nest's logger.
 * - When the application closes it holds nothing from `onModuleDestroy` on, and every term is aborted. Before any
 *   `onApplicationShutdown` the work under the roles has ended and the roles are given back.
 *
 * *Gotcha:* without `app.enableShutdownHooks()` a signal ends the process without any of that.
 */
export class LeaseholdModule {
  /**
   * `NestFactory.create` rejects with what `createLeasehold`, `postgresStore`, `Leasehold.role` and `Leasehold.partition` throw
   * at an option, and `app.init` with what `installRoleHolderProxy` throws at one of `proxy`; with LEASEHOLD_UNKNOWN_ROLE when a
   * decorator names what is not registered; and with what `Leasehold.start` throws, as its `startup` says.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION for roles or partitions that are none.
   * @throws {LeaseholdError} LEASEHOLD_ALREADY_REGISTERED from `NestFactory.create` when it is imported twice.
   */
  static forRoot(options: LeaseholdModuleOptions = {}): DynamicModule {
    const { roles, partitions, ...settings } = options;
    return rootModule(providersOf({ roles, partitions }), { provide: LEASEHOLD_SETTINGS, useFactory: () => settings });
  }

  /**
   * The same, with settings that other providers give. The names of roles and partitions cannot come from them: the
   * injector has to know those before it calls the factory.
   *
   * @throws {LeaseholdError} as `forRoot`
   */
  static forRootAsync(options: LeaseholdModuleAsyncOptions): DynamicModule {
    const { roles, partitions, imports = [], inject = [], useFactory } = options;
    const settings: FactoryProvider = {
      provide: LEASEHOLD_SETTINGS,
      inject,
      useFactory: useFactory as FactoryProvider<LeaseholdSettings>['useFactory'],
    };
    return { ...rootModule(providersOf({ roles, partitions }), settings), imports };
  }

  /**
   * The roles and partitions of a part of the application: they are competed for, and can be injected in the module that imports
   * this. A role may be named in many places; one of them may give its options. A partition may be declared in many places, with
   * the same options.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION for roles or partitions that are none.
   * @throws {LeaseholdError} LEASEHOLD_DUPLICATE_ROLE from `NestFactory.create` when options come late, to a role that is registered,
   * when those of a partition differ, and when a role has the name of one of a partition.
   */
  static forFeature(options: LeaseholdFeatureOptions): DynamicModule {
    const providers = providersOf(options);
    return { module: LeaseholdModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}

// As a function: Node runs this file as it stands, and strips types but not decorators.
Module({})(LeaseholdModule);

function rootModule(declared: readonly FactoryProvider[], settings: FactoryProvider): DynamicModule {
  return {
    module: LeaseholdModule,
    global: true,
    providers: [settings, leaseholdProvider, lifecycleProvider, proxiesProvider, healthProvider, ...declared],
    exports: [LEASEHOLD, Lifecycle, LeaseholdHealthIndicator, ...declared.map(({ provide }) => provide)],
  };
}

interface DeclaredNames {
  readonly roles?: unknown;
  readonly partitions?: unknown;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
function providersOf({ roles, partitions }: DeclaredNames): FactoryProvider[] {
  return [...resolvePartitions(partitions).map(partitionProvider), ...resolveRoles(roles).map(roleProvider)];
}

const leaseholdProvider: FactoryProvider<Leasehold> = {
  provide: LEASEHOLD,
  inject: [LEASEHOLD_SETTINGS, ModulesContainer],
  useFactory: (settings: LeaseholdSettings, modules: ModulesContainer) => {
    requireOne(modules);
    return resolveLeasehold(settings);
  },
};

const lifecycleProvider: FactoryProvider<Lifecycle> = {
  provide: Lifecycle,
  inject: [LEASEHOLD, LEASEHOLD_SETTINGS, HttpAdapterHost, ModulesContainer],
  useFactory: (leasehold: Leasehold, settings: LeaseholdSettings, host: HttpAdapterHost, modules: ModulesContainer) =>
    new Lifecycle({ leasehold, settings, host, modules }),
};

const proxiesProvider: FactoryProvider<ModuleProxies> = {
  provide: ModuleProxies,
  inject: [Lifecycle, HttpAdapterHost, LEASEHOLD_SETTINGS],
  useFactory: (lifecycle: Lifecycle, host: HttpAdapterHost, settings: LeaseholdSettings) =>
    new ModuleProxies(lifecycle, host, resolveProxies(settings)),
};

const healthProvider: FactoryProvider<LeaseholdHealthIndicator> = {
  provide: LeaseholdHealthIndicator,
  inject: [LEASEHOLD],
  useFactory: (leasehold: Leasehold) => new LeaseholdHealthIndicator(leasehold),
};

/** Registers the role when it is first asked for. With options it is always registered, and refused when it was before. */
function roleProvider({ name, ...options }: AnyRole): FactoryProvider<RoleLease> {
  const isPlain = Object.keys(options).length === 0;
  return {
    provide: roleLeaseToken(name),
    inject: [LEASEHOLD],
    useFactory: (leasehold: Leasehold) =>
      isPlain && isRoleOfItsOwn(leasehold, name) ? leasehold.get(name) : leasehold.role(name, options),
  };
}

/** A role of a partition is refused, whichever of the two is registered first: their order is up to the injector. */
function isRoleOfItsOwn({ leases }: Leasehold, name: string): boolean {
  return leases.has(name) && !('partition' in leases.get(name));
}

function partitionProvider(partition: AnyPartition): FactoryProvider<RolePartition> {
  return {
    provide: rolePartitionToken(partition.name),
    inject: [LEASEHOLD],
    useFactory: (leasehold: Leasehold) => declarePartition(leasehold, partition),
  };
}

/** Two of them would compete with each other, each for its half of the application. */
function requireOne(modules: ModulesContainer): void {
  const roots = [...modules.values()].filter((module) => module.providers.has(LEASEHOLD));
  if (roots.length <= 1) return;
  throw new LeaseholdError(
    'LEASEHOLD_ALREADY_REGISTERED',
    'LeaseholdModule.forRoot() is imported more than once: import it in the root module alone, and name the roles and partitions of other modules with LeaseholdModule.forFeature().',
  );
}
