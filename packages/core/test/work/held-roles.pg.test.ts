import { heldRoles } from '@leasehold/core/work';
import { describe, expect } from 'vitest';
import type { LeaseRegistry } from '../../src/lease/registry.ts';
import { test } from '../../../../test/support/database.ts';
import { buffersOf, claimStatement, describeTable, partOf, planOf } from './support/plans.ts';
import { addTasks, createTasks, taskOptions, tasksOf } from './support/tasks.ts';

function instanceThatHolds(...roles: string[]): { leases: LeaseRegistry } {
  const leases: Pick<LeaseRegistry, 'heldRoles'> = { heldRoles: () => roles };
  return { leases: leases as LeaseRegistry };
}

describe('a claim of rows whose role is held here', () => {
  test('takes evenly of the roles held and of none, and no other', async ({ database }) => {
    await createTasks(database, 'group');
    for (const tenant of ['billing', 'shipping', 'elsewhere', null]) await addTasks(database, { count: 5, tenant });
    const where = heldRoles(instanceThatHolds('billing', 'shipping'), 'tenant');
    const claim = await tasksOf(database, 'group').claim(database.pool, { limit: 6, where });
    claim.close();
    const tenants = claim.rows.map((row) => row.tenant ?? 'none');
    expect(tenants.toSorted()).toEqual(['billing', 'billing', 'none', 'none', 'shipping', 'shipping']);
  });

  test('takes those of none where no role is held', async ({ database }) => {
    await createTasks(database, 'group');
    for (const tenant of ['billing', null]) await addTasks(database, { count: 2, tenant });
    const claim = await tasksOf(database, 'group').claim(database.pool, { where: heldRoles(instanceThatHolds(), 'tenant') });
    claim.close();
    expect(claim.rows.map((row) => row.tenant)).toEqual([null, null]);
  });

  test('does not step over the rows of a role that is held elsewhere', async ({ database }) => {
    await createTasks(database, 'group');
    await addTasks(database, { count: 10_000, tenant: 'elsewhere', due: "-interval '2 hours'" });
    await addTasks(database, { count: 50, tenant: 'billing' });
    const description = await describeTable(database, taskOptions(database, 'group'));
    const where = heldRoles(instanceThatHolds('billing'), 'tenant');
    const plan = await planOf(database.pool, claimStatement(description, { limit: 50, where }));
    // The rows, their locks, and a look at each group; by the filter alone it would be hundreds.
    expect(buffersOf(partOf(plan, 'leasehold_next'))).toBeLessThan(120);
  });
});
