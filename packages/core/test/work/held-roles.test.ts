import { heldRoles, sql } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { testLeasehold } from '../../../testing/src/test-leasehold.ts';

describe('heldRoles', () => {
  it('asks at each call which roles are held', async () => {
    const { leasehold, hold, lose } = testLeasehold({ roles: ['mail', 'hooks', 'idle'] });
    const where = heldRoles(leasehold, 'target_role');
    await leasehold.start();
    expect(where().values).toEqual([[]]);
    await hold('mail');
    await hold('hooks');
    expect(where().values).toEqual([['mail', 'hooks']]);
    await lose('mail');
    expect(where().values).toEqual([['hooks']]);
    await leasehold.stop();
    expect(where().values).toEqual([[]]);
  });

  it('owns what belongs to a role held at this moment, or to none', async () => {
    const { leasehold, hold, lose } = testLeasehold({ roles: ['mail'] });
    const { owns } = heldRoles(leasehold, 'role');
    await leasehold.start();
    await hold('mail');
    const rows = [{ role: 'mail' }, { role: null }, { role: 'unknown' }, {}, { role: 7 }];
    expect(rows.map(owns)).toEqual([true, true, false, false, false]);
    await lose('mail');
    expect(rows.map(owns)).toEqual([false, true, false, false, false]);
    await leasehold.stop();
  });

  it('quotes the column, gives the names as one parameter, and binds as one condition', () => {
    const { leasehold } = testLeasehold();
    const where = heldRoles(leasehold, 'tar"get')
      .and(sql`a = ${1} or b`)
      .and(sql`c`);
    expect(where().text).toBe('("tar""get" is null or "tar""get" = any ($1::text[])) and (a = $2 or b) and (c)');
    expect(where().values).toEqual([[], 1]);
    expect([where.column, where.owns({ 'tar"get': null })]).toEqual(['tar"get', true]);
  });

  it('refuses a column that cannot be one, and a condition that is none', () => {
    const { leasehold } = testLeasehold();
    expect(() => heldRoles(leasehold, '')).toThrow(/^column is ""/);
    expect(() => heldRoles(leasehold, 'role').and('x' as never)).toThrow(/^condition is "x"/);
  });
});
