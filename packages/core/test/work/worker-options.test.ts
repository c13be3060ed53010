import { heldRoles } from '@leasehold/core/work';
import { describe, expect, it } from 'vitest';
import { testLeasehold } from '../../../testing/src/test-leasehold.ts';
import { start } from './support/start.ts';

describe('the options of work()', () => {
  it.for([
    [{ handler: undefined }, /^handler is undefined; give a function/],
    [{ concurrency: 0 }, /^concurrency is 0; give a whole number from 1 to 1000/],
    [{ concurrency: 1.5 }, /^concurrency is 1.5/],
    [{ prefetch: -1 }, /^prefetch is -1/],
    [{ lease: '500ms' }, /^lease is "500ms".* from 1s/],
    [{ lease: '2d' }, /^lease is "2d"/],
    [{ safetyMargin: '40s' }, /^safetyMargin is "40s"/],
    [{ timeout: 0 }, /^timeout is 0/],
    [{ timeout: '15' }, /^timeout is "15"/],
    [{ backoff: '5s' }, /^backoff is "5s"; give a function/],
    [{ errorColumn: '' }, /^errorColumn is ""/],
    [{ minIdle: 0 }, /^minIdle is 0/],
    [{ minIdle: '10s', maxIdle: '5s' }, /^maxIdle is "5s"/],
    [{ wakeUp: {} }, /^wakeUp is an object/],
    [{ drainFor: -1 }, /^drainFor is -1/],
    [{ where: 'a = 1' }, /^where is "a = 1"; give a condition/],
    [{ concurency: 5 }, /^"concurency" is no option of work\(\); there are handler/],
    [{ autoRenew: false }, /^"autoRenew" is no option/],
    [{ limit: 5 }, /^"limit" is no option/],
    [{ group: { tenant: 1 } }, /^group is none of this table/],
  ] as const)('%o is refused, before anything is asked of the database', ([options, message]) => {
    expect(() => start(() => {}, options as object)).toThrow(message);
  });

  it('name the column of roles among those that are returned', () => {
    const where = heldRoles(testLeasehold().leasehold, 'role');
    expect(() => start(() => {}, { where, returning: ['id'] })).toThrow(/^returning is an array of 1; add role/);
  });

  it('stop() refuses a time that is none', () => {
    const { worker } = start(() => {});
    expect(() => worker.stop({ drainFor: 'soon' as never })).toThrow(/^drainFor is "soon"/);
    void worker.stop();
  });
});
