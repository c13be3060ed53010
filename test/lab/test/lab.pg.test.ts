import { rm } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { allViolations } from '../src/checker/check.ts';
import type { PlannedFault } from '../src/plan/fault.ts';
import { type LabResult, runLab, type RunOptions } from '../src/run/run-lab.ts';

const TIMEOUT_MS = 120_000;

const options: Omit<RunOptions, 'plan' | 'signal'> = {
  minutes: 1,
  processes: 3,
  roles: 4,
  lease: '2s',
  leaseMs: 2_000,
  seed: 1,
  quiet: true,
};

function strike(kind: string, atMs: number, lastsMs: number): PlannedFault {
  return { kind, atMs, lastsMs, role: 0, slot: 0, preferHolder: true, draw: 0.9 };
}

async function run(plan: readonly PlannedFault[], more: Partial<RunOptions> = {}): Promise<LabResult> {
  const result = await runLab({ ...options, plan, signal: new AbortController().signal, ...more });
  onTestFinished(() => rm(result.folder, { recursive: true, force: true }));
  return result;
}

describe('the lab', () => {
  test('finds nothing wrong with holders that are killed, frozen and cut off', { timeout: TIMEOUT_MS }, async () => {
    const plan = [strike('kill', 500, 500), strike('freeze', 3_500, 2_500), strike('cutDatabase', 8_000, 2_500)];
    const { verdict, failures, faults } = await run(plan);
    expect([...failures, ...allViolations(verdict)]).toEqual([]);
    expect(faults.map(({ kind }) => kind)).toEqual(['kill', 'freeze', 'cutDatabase']);
    // Each fault struck the holder of all roles.
    expect(verdict.takeovers.count).toBeGreaterThanOrEqual(3 * options.roles);
  });

  test('finds two holders when the clock of the processes runs slow', { timeout: TIMEOUT_MS }, async () => {
    const { verdict } = await run([strike('hangDatabase', 1_500, 5_000)], { monotonicRate: 0.4 });
    const checks = new Set(verdict.overlaps.map(({ check }) => check));
    expect(checks).toEqual(new Set(['belief overlap', 'late belief']));
  });

  test('that is interrupted ends early', { timeout: TIMEOUT_MS }, async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 4_000);
    const startedAt = performance.now();
    await run([strike('freeze', 1_000, 60_000)], { signal: controller.signal });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});
