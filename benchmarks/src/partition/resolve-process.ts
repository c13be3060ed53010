/**
 * Runs in a process of its own with a young generation so large that nothing is collected meanwhile: the growth of the
 * heap is then exactly what was allocated. Prints one line of JSON.
 */
import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { partitionOf } from '../../../packages/core/src/partition/partition-hash.ts';
import { referencePartition } from '../../../packages/core/test/support/reference-hash.ts';
import type { ResolveOutput } from './resolve.ts';

const COUNT = 256;
const CALLS = 5_000_000;
const BIG_INT_CALLS = 50_000;
const ROUNDS = 7;
/** As long as a UUID: the length of a key is what the time depends on. */
const KEYS = Array.from({ length: 1_024 }, (_, n) => `550e8400-e29b-41d4-a716-${String(n * 7_919).padStart(12, '0')}`);

const partition = createLeasehold({ store: memoryStore() }).partition('devices', { count: COUNT });

type Run = (calls: number) => number;

const keyOf = (call: number): string => KEYS[call & 1_023] as string;

const runs = {
  hash: (calls) => {
    let sum = 0;
    for (let call = 0; call < calls; call += 1) sum += partitionOf(keyOf(call), COUNT);
    return sum;
  },
  resolve: (calls) => {
    let sum = 0;
    for (let call = 0; call < calls; call += 1) sum += partition.resolve(keyOf(call)).partition;
    return sum;
  },
  scoped: (calls) => {
    let sum = 0;
    for (let call = 0; call < calls; call += 1) sum += partition.resolve('Device', keyOf(call)).partition;
    return sum;
  },
  bigInt: (calls) => {
    let sum = 0;
    for (let call = 0; call < calls; call += 1) sum += referencePartition([keyOf(call)], COUNT);
    return sum;
  },
} satisfies Record<string, Run>;

function time(run: Run, calls: number): number {
  const began = performance.now();
  run(calls);
  return performance.now() - began;
}

function bytesPerCall(run: Run): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  run(CALLS);
  return (process.memoryUsage().heapUsed - before) / CALLS;
}

if (runs.hash(5_000) !== runs.resolve(5_000) || runs.hash(5_000) !== runs.bigInt(5_000)) throw new Error('the hashes differ');
const timeAll = (): ResolveOutput['rounds'][number] => ({
  hash: time(runs.hash, CALLS),
  resolve: time(runs.resolve, CALLS),
  scoped: time(runs.scoped, CALLS),
  bigInt: time(runs.bigInt, BIG_INT_CALLS),
});
// Warm, until all are compiled.
for (let round = 0; round < 2; round += 1) timeAll();
const rounds = Array.from({ length: ROUNDS }, timeAll);
const bytes = Array.from({ length: ROUNDS }, () => ({ resolve: bytesPerCall(runs.resolve), scoped: bytesPerCall(runs.scoped) }));
console.log(JSON.stringify({ calls: CALLS, bigIntCalls: BIG_INT_CALLS, rounds, bytes } satisfies ResolveOutput));
