/**
 * Runs in a process of its own with a young generation so large that nothing is collected meanwhile: the growth of the
 * heap is then exactly what was allocated. Prints one line of JSON.
 */
import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';

const TIMED_CALLS = 5_000_000;
const COUNTED_CALLS = 4_000_000;
const ROUNDS = 7;

const leasehold = createLeasehold({ store: memoryStore(), leaseDuration: '1h', renewInterval: '20m' });
const lease = leasehold.role('r');
await leasehold.start();
const heldUntil = performance.now() + 3_600_000;
const wallUntil = Date.now() + 3_600_000;

/** What any correct isHeld has to do: read both clocks and compare. */
function readClocks(calls: number): number {
  let held = 0;
  for (let call = 0; call < calls; call += 1) if (performance.now() < heldUntil && Date.now() < wallUntil) held += 1;
  return held;
}

function readIsHeld(calls: number): number {
  let held = 0;
  for (let call = 0; call < calls; call += 1) if (lease.isHeld) held += 1;
  return held;
}

function time(run: (calls: number) => number): number {
  const began = performance.now();
  if (run(TIMED_CALLS) !== TIMED_CALLS) throw new Error('the lease was lost meanwhile');
  return performance.now() - began;
}

function bytesPerCall(run: (calls: number) => number): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  run(COUNTED_CALLS);
  return (process.memoryUsage().heapUsed - before) / COUNTED_CALLS;
}

// Warm, until both are compiled.
for (let round = 0; round < 3; round += 1) {
  time(readClocks);
  time(readIsHeld);
}
const rounds = Array.from({ length: ROUNDS }, () => ({ clocksMs: time(readClocks), isHeldMs: time(readIsHeld) }));
const bytes = Array.from({ length: ROUNDS }, () => ({ clocks: bytesPerCall(readClocks), isHeld: bytesPerCall(readIsHeld) }));
console.log(JSON.stringify({ rounds, calls: TIMED_CALLS, bytes }));
await leasehold.stop();
