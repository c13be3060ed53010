import type { Leasehold } from '@leasehold/core';
import { invalidOption, leaseholdFrom } from '@leasehold/core/adapter';
import type { InstallRoleHolderProxyOptions } from './install-role-holder-proxy.ts';
import type { GivenLeaseholdSettings, LeaseholdSettings, OwnLeaseholdSettings } from './module-options.ts';
import { nestLogger } from './nest-logger.ts';

/** Belong to the module. */
const OF_MODULE: ReadonlySet<string> = new Set(['advertise', 'proxy']);
const PLACE = { name: 'LeaseholdModule', own: ['roles', 'partitions', 'leasehold', ...OF_MODULE] };

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveProxies({ proxy = [] }: LeaseholdSettings): readonly InstallRoleHolderProxyOptions[] {
  if (Array.isArray(proxy)) return proxy;
  throw invalidOption('proxy', proxy, "give an array, such as [{ role: 'maintenance', prefixes: ['/maintenance'] }]");
}

/**
 * The Leasehold that the settings ask for, not started unless it is given.
 *
 * @throws {LeaseholdError} whatever `createLeasehold` and `postgresStore` throw; LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(settings: LeaseholdSettings): Promise<Leasehold> {
  if (typeof settings !== 'object' || settings === null) {
    throw invalidOption('options', settings, 'give an object, such as { connectionString }');
  }
  requireNoNames(settings);
  if (settings.leasehold === undefined) return makeLeasehold(settings);
  requireNothingElse(settings);
  return settings.leasehold;
}

function makeLeasehold(settings: OwnLeaseholdSettings): Promise<Leasehold> {
  const { advertise: _, proxy: __, leasehold: ___, ...others } = settings;
  return leaseholdFrom(others, nestLogger('Leasehold'), PLACE);
}

function requireNothingElse(settings: GivenLeaseholdSettings): void {
  const { leasehold, logger: _, ...others } = settings;
  if (typeof leasehold !== 'object' || leasehold === null || typeof leasehold.start !== 'function') {
    throw invalidOption('leasehold', leasehold, 'give what createLeasehold() returned');
  }
  const other = Object.entries(others).find(([name, value]) => value !== undefined && !OF_MODULE.has(name));
  if (other !== undefined) throw invalidOption(...other, 'give it to createLeasehold() instead, as a leasehold is given');
}

/** A factory comes too late for them: the injector knows a role by what the module was made with. */
function requireNoNames(settings: object): void {
  for (const option of ['roles', 'partitions']) {
    if (option in settings) {
      throw invalidOption(option, Reflect.get(settings, option), `give ${option} to forRootAsync() itself, beside useFactory`);
    }
  }
}
