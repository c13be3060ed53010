import { bullmq } from './contestants/bullmq.ts';
import { graphileWorker } from './contestants/graphile-worker.ts';
import { handWritten } from './contestants/hand-written.ts';
import type { Loops } from './contestants/loops.ts';
import { leasehold, leaseholdCounting, leaseholdWork } from './contestants/leasehold.ts';
import { pgBossFetch, pgBossWork } from './contestants/pg-boss.ts';
import type { Workload } from './workload.ts';

/** What is claimed at once, and by how many at the same time, where that can be chosen. */
const LOOPS: Loops = { batch: 100, connections: 2 };

export interface Contestant {
  /** As in the names of figures. */
  readonly name: string;
  /** Its package; null for what is a file of this benchmark. */
  readonly package: string | null;
  /** Of the rows of a slot; less than 1 for who needs long for them, or long to get them. */
  readonly share: number;
  /** In which rounds it takes part: in every one, or in the first of several. */
  readonly rounds: 'all' | 'some';
  readonly open: (connectionString: string) => Promise<Workload>;
}

export const CONTESTANTS: readonly Contestant[] = [
  { name: 'handWritten', package: 'pg', share: 1, rounds: 'all', open: (database) => handWritten(database, LOOPS) },
  { name: 'leasehold', package: null, share: 1, rounds: 'all', open: (database) => leasehold(database, LOOPS) },
  { name: 'leaseholdCounting', package: null, share: 1, rounds: 'all', open: (database) => leaseholdCounting(database, LOOPS) },
  { name: 'leaseholdWork', package: null, share: 1, rounds: 'all', open: (database) => leaseholdWork(database, LOOPS) },
  { name: 'handWrittenAgain', package: 'pg', share: 1, rounds: 'all', open: (database) => handWritten(database, LOOPS) },
  {
    name: 'graphileBatched',
    package: 'graphile-worker',
    share: 1,
    rounds: 'all',
    open: (database) => graphileWorker(database, { batched: true }),
  },
  { name: 'pgBossFetch', package: 'pg-boss', share: 0.5, rounds: 'all', open: (database) => pgBossFetch(database, LOOPS) },
  { name: 'pgBossWork', package: 'pg-boss', share: 0.5, rounds: 'some', open: (database) => pgBossWork(database, LOOPS) },
  {
    name: 'graphileOneByOne',
    package: 'graphile-worker',
    share: 0.1,
    rounds: 'some',
    open: (database) => graphileWorker(database, { batched: false }),
  },
  { name: 'bullmq', package: 'bullmq', share: 0.1, rounds: 'some', open: bullmq },
];
