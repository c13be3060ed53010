/**
 * Augment it with the roles of an application, and a misspelt role name does not compile any more:
 *
 * ```ts
 * declare module '@leasehold/nestjs' {
 *   interface RegisteredRoles {
 *     maintenance: true;
 *   }
 * }
 * WhileHeld('maintenanc'); // error
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
