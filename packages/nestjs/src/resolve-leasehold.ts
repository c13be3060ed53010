import type { Leasehold } from '@leasehold/core';
import { invalidOption, leaseholdFrom } from '@leasehold/core/adapter';
import type { LeaseholdSettings } from './module-options.ts';
import { nestLogger } from './nest-logger.ts';

/**
 * The Leasehold that the settings ask for, not started.
 *
 * @throws {LeaseholdError} whatever `createLeasehold` and `postgresStore` throw; LEASEHOLD_INVALID_OPTION
 */
export async function resolveLeasehold(settings: LeaseholdSettings): Promise<Leasehold> {
  if (typeof settings !== 'object' || settings === null) {
    throw invalidOption('options', settings, 'give an object, such as { connectionString }');
  }
  requireNoRoles(settings);
  const { advertise: _, ...others } = settings;
  return leaseholdFrom(others, nestLogger('Leasehold'));
}

/** A factory comes too late for them: the injector knows a role by what the module was made with. */
function requireNoRoles(settings: object): void {
  if (!('roles' in settings)) return;
  throw invalidOption('roles', settings.roles, 'give roles to forRootAsync() itself, beside useFactory');
}
