import type { LeaseRegistry, RoleLease } from '@leasehold/core';

/**
 * Augment it with the roles of an application, and a misspelt role name does not compile any more:
 *
 * ```ts
 * declare module '@leasehold/fastify' {
 *   interface RegisteredRoles {
 *     maintenance: true;
 *   }
 * }
 * app.roleLeases.get('maintenanc'); // error
 * ```
 *
 * While it is empty, every string is a role name.
 */
// oxlint-disable-next-line typescript/no-empty-interface -- augmented by users, which an alias cannot be
export interface RegisteredRoles {}

/** The names in `Roles`, or any string while there are none. */
export type RoleNameOf<Roles> = keyof Roles extends never ? string : Extract<keyof Roles, string>;

/** A role name of this application; see {@link RegisteredRoles}. */
export type RoleName = RoleNameOf<RegisteredRoles>;

/** Every configured role of the application, as `app.roleLeases`. */
export interface RoleLeases extends LeaseRegistry {
  has(role: RoleName): boolean;
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE */
  get(role: RoleName): RoleLease;
}
