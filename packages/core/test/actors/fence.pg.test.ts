import { actorHome } from '@leasehold/core/actors';
import { withFence } from '@leasehold/core/postgres';
import { describe, expect } from 'vitest';
import { manualClock } from '../../../testing/src/manual-clock.ts';
import { test } from '../../../../test/support/database.ts';
import { instanceOn } from '../support/postgres-lease.ts';

interface Actors {
  Order: (message: { readonly go: Promise<void>; readonly amount: number }) => number;
}

describe('a home that was frozen in the middle of a turn', () => {
  test.for([{}, { shards: 4 }])(
    'finds its signal aborted, and its fence refuses what another home has passed (%o)',
    async (options, { database }) => {
      await database.query(`create schema if not exists ${database.schema}`);
      await database.query(`create table ${database.schema}.paid (home text, amount int)`);
      const frozenClock = manualClock();
      const begin = (label: string, settings: object) => {
        const leasehold = instanceOn(database, { instance: { label }, leaseDuration: '1s', ...settings });
        const home = actorHome<Actors>(leasehold, options);
        const signals: AbortSignal[] = [];
        home.actor('Order', {
          handle: async ({ go, amount }, { term, signal }) => {
            signals.push(signal);
            await go;
            await withFence(database.pool, term, (client) =>
              client.query(`insert into ${database.schema}.paid values ($1, $2)`, [label, amount]),
            );
            return amount;
          },
        });
        return { leasehold, home, signals };
      };
      // Its time stands still: it renews nothing, as a frozen process does not, and believes on.
      const frozen = begin('frozen', { clock: frozenClock, startup: 'background' });
      await frozen.leasehold.start();
      await expect
        .poll(async () => (await frozenClock.advance(10), frozen.leasehold.leases.heldRoles().length))
        .toBe(frozen.leasehold.leases.size);
      const { promise: thaw, resolve: resume } = Promise.withResolvers<void>();
      expect(await frozen.home.ask('Order', '7', { go: Promise.resolve(), amount: 1 })).toBe(1);
      const late = frozen.home.ask('Order', '7', { go: thaw, amount: 2 });
      await expect.poll(() => frozen.signals.length).toBe(2);

      // Longer, so that a machine that is busy does not cost it the home.
      const other = begin('other', { leaseDuration: '6s' });
      await other.leasehold.start();
      await expect.poll(() => other.leasehold.leases.heldRoles().length, { timeout: 60_000 }).toBe(other.leasehold.leases.size);
      expect(await other.home.ask('Order', '7', { go: Promise.resolve(), amount: 3 })).toBe(3);
      // By its own clock nothing has happened: only the fence can tell.
      expect(frozen.signals[1]?.aborted).toBe(false);
      resume();
      await expect(late).rejects.toMatchObject({ code: 'LEASEHOLD_FENCED' });

      frozenClock.jump(1_000);
      expect(frozen.signals[1]).toMatchObject({ aborted: true, reason: { code: 'LEASEHOLD_TERM_EXPIRED' } });
      await expect(frozen.home.ask('Order', '7', { go: thaw, amount: 4 })).rejects.toMatchObject({ code: 'LEASEHOLD_NOT_HOME' });
      expect(await database.query(`select home, amount from ${database.schema}.paid order by amount`)).toEqual([
        { home: 'frozen', amount: 1 },
        { home: 'other', amount: 3 },
      ]);
      frozenClock.jump(60_000);
      await frozenClock.advance(0);
    },
  );
});
