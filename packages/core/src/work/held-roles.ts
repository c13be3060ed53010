import type { LeaseRegistry } from '../lease/registry.ts';
import { quoteIdentifier } from '../postgres/identifier.ts';
import { requireThat } from '../require-option.ts';
import { isSql, sql, Sql, toSql } from './sql.ts';
import { resolveIdentifier } from './work-table-name.ts';

/**
 * A condition of rows that belong to a role held here, or to none. It is a function, so that each claim asks anew which
 * roles are held: give it as `where`.
 */
export interface HeldRoles {
  /** The condition as of now. */
  (): Sql;
  /** The column with the name of the role. */
  readonly column: string;
  /** The roles that are held at this moment. */
  held(): readonly string[];
  /** Resolves when a term of any role begins here, or `signal` aborts: rows of that role may have waited for it. */
  nextTerm(signal: AbortSignal): Promise<void>;
  /** Whether the row belongs to a role that is held at this moment, or to none. */
  owns(row: object): boolean;
  /**
   * The same with a condition of the application's own.
   *
   * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
   */
  and(condition: Sql): HeldRoles;
}

/**
 * Selects rows whose target role is NULL or held by this instance at the time of each claim.
 *
 * Where the column is the table's `groupBy`, a claim looks at these roles alone in the index, and takes evenly of them. Otherwise it steps
 * over every due row of a role that is held elsewhere.
 *
 * *Gotcha:* a role may move between the claim and the work on its row. A worker asks {@link HeldRoles.owns} again right
 * before the handler, and hands back what is not its own any more.
 *
 * @param column a text column with the name of a role.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 *
 * @example
 * deliveries.work(pool, { where: heldRoles(leasehold, 'target_role'), handler });
 */
export function heldRoles(leasehold: { readonly leases: LeaseRegistry }, column: string): HeldRoles {
  const { leases } = leasehold;
  const quoted = quoteIdentifier(resolveIdentifier('column', column));
  const condition = (): Sql => new Sql([`(${quoted} is null or ${quoted} = any (`, '::text[]))'], [leases.heldRoles()]);
  const owns = (row: object): boolean => isOwned(leases, Reflect.get(row, column));
  const nextTerm = (signal: AbortSignal): Promise<void> => leases.nextTerm(signal);
  return compose(condition, { column, owns, held: () => leases.heldRoles(), nextTerm });
}

/** A row without the column has not said whose it is. */
function isOwned(leases: LeaseRegistry, role: unknown): boolean {
  if (role === null) return true;
  return typeof role === 'string' && leases.has(role) && leases.get(role).isHeld;
}

function compose(condition: () => Sql, rest: Pick<HeldRoles, 'column' | 'owns' | 'held' | 'nextTerm'>): HeldRoles {
  const and = (other: Sql): HeldRoles => {
    requireThat(isSql(other), 'condition', other, 'give a condition, such as sql`tenant_id = ${tenantId}`');
    return compose(() => sql`${condition()} and (${toSql(other)})`, rest);
  };
  return Object.assign(() => condition(), { ...rest, and });
}

export function isHeldRoles(where: unknown): where is HeldRoles {
  return typeof where === 'function' && 'column' in where && 'held' in where && typeof where.held === 'function';
}
