import type { Leasehold } from '@leasehold/core';
import { currentTerm, InjectLeasehold, LeaseholdModule, WhileHeld } from '@leasehold/nestjs';
import { type INestApplication, Inject, Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import { describe, expect } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { createApp, leaseOf, type Platform, platforms } from './support/apps.ts';

const LEASE_MS = 3_000;

interface Tick {
  readonly by: string;
  readonly kind: 'cron' | 'interval' | 'failing';
  readonly token: bigint | undefined;
}

/** What the copies did, in its order: they are of one process here. */
const JOURNAL = 'journal';

@Injectable()
class Jobs {
  readonly #leasehold: Leasehold;
  readonly #journal: Tick[];

  constructor(@InjectLeasehold() leasehold: Leasehold, @Inject(JOURNAL) journal: Tick[]) {
    this.#leasehold = leasehold;
    this.#journal = journal;
  }

  @Cron('* * * * * *')
  @WhileHeld('maintenance')
  async everySecond(): Promise<void> {
    this.#note('cron');
  }

  @WhileHeld('maintenance')
  @Interval(20)
  async often(): Promise<void> {
    await Promise.resolve();
    this.#note('interval');
  }

  @Interval(20)
  @WhileHeld('maintenance')
  async failing(): Promise<void> {
    this.#note('failing');
    throw new Error('work failed');
  }

  #note(kind: Tick['kind']): void {
    this.#journal.push({ by: this.#leasehold.instance.label, kind, token: currentTerm()?.fencingToken });
  }
}

interface CopyOptions {
  readonly database: TestDatabase;
  readonly label: string;
  readonly journal: Tick[];
}

async function startCopy(platform: Platform, { database, label, journal }: CopyOptions): Promise<INestApplication> {
  const { connectionString, schema } = database;
  const useFactory = async () => ({ connectionString, schema, instance: { label }, leaseDuration: LEASE_MS });
  const app = await createApp(platform, {
    imports: [LeaseholdModule.forRootAsync({ useFactory, roles: ['maintenance'] }), ScheduleModule.forRoot()],
    providers: [Jobs, { provide: JOURNAL, useValue: journal }],
  });
  await app.listen(0, '127.0.0.1');
  return app;
}

const kindsBy = (journal: readonly Tick[], label: string): string[] =>
  [...new Set(journal.filter(({ by }) => by === label).map(({ kind }) => kind))].sort();

describe.each(platforms)('on %s', (platform) => {
  test('@Cron and @Interval tick on the holder alone, again after an error, and go on elsewhere when it stops', async ({
    database,
  }) => {
    const journal: Tick[] = [];
    const first = await startCopy(platform, { database, journal, label: 'first' });
    const second = await startCopy(platform, { database, journal, label: 'second' });
    const [firstToken, all] = [leaseOf(first).fencingToken ?? 0n, ['cron', 'failing', 'interval']];
    await expect.poll(() => kindsBy(journal, 'first'), { timeout: 5_000 }).toEqual(all);
    await expect.poll(() => journal.filter(({ kind }) => kind === 'failing').length).toBeGreaterThan(2);
    expect(kindsBy(journal, 'second')).toEqual([]);

    await first.close();
    const told = journal.length;
    await expect.poll(() => leaseOf(second).isHeld, { timeout: LEASE_MS / 2 }).toBe(true);
    await expect.poll(() => kindsBy(journal, 'second'), { timeout: 5_000 }).toEqual(all);
    expect(journal.slice(told).map(({ by }) => by)).not.toContain('first');
    const terms = [...new Set(journal.map(({ by, token }) => `${by} in term ${token}`))];
    expect(terms).toEqual([`first in term ${firstToken}`, `second in term ${firstToken + 1n}`]);
  });
});
