import type { Claim, WorkTable } from '@leasehold/core/work';
import { sql, workTable } from '@leasehold/core/work';
import type pg from 'pg';
import { describe, expectTypeOf, test } from 'vitest';

interface Delivery {
  readonly id: string;
  readonly attempts: number;
  readonly error: string | null;
}

declare const pool: pg.Pool;
declare const deliveries: WorkTable<Delivery>;
declare const claim: Claim<Delivery>;

describe('a work table', () => {
  test('takes its own options, and none that is misspelt or missing', () => {
    // @ts-expect-error `orderBy` and `live` are asked for
    workTable({ table: 'deliveries' });
    // @ts-expect-error the filter is a piece of SQL, and no text
    workTable({ table: 'deliveries', orderBy: 'created_at', live: 'completed_at is null' });
    // @ts-expect-error a misspelt option
    workTable({ table: 'deliveries', orderBy: 'created_at', live: sql`true`, orderby: 'id' });
  });

  test('claims with its own options, for a client that can run a statement', () => {
    expectTypeOf(deliveries.claim(pool)).resolves.toEqualTypeOf<Claim<Delivery>>();
    // @ts-expect-error a duration without a unit is none
    void deliveries.claim(pool, { lease: '60' });
    // @ts-expect-error a misspelt option
    void deliveries.claim(pool, { limits: 5 });
    // @ts-expect-error a connection string is no client
    void deliveries.claim('postgres://app@db/app');
  });
});

describe('a claim', () => {
  test('is settled in ways that there are', () => {
    expectTypeOf(claim.rows).toEqualTypeOf<readonly Delivery[]>();
    expectTypeOf(claim.finalize('1')).resolves.toEqualTypeOf<'done' | 'lost' | 'gone'>();
    // @ts-expect-error a retry says when
    void claim.retry('1', {});
    // @ts-expect-error no such outcome
    void claim.settle([{ row: '1', outcome: 'finished' }]);
    // @ts-expect-error a delay belongs to a retry alone
    void claim.settle([{ row: '1', outcome: 'done', after: '1m' }]);
    void claim.finalize('1', { error: new Error('text'), attempts: sql`attempts + 1`, other: 5 });
    // @ts-expect-error of another type than the column
    void claim.finalize('1', { attempts: 'three' });
    // @ts-expect-error no such answer to a loss
    void claim.finalize('1', {}, { onLost: 'rollback' });
  });
});
