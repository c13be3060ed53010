import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Which CPUs the process under test has for itself, and which are left for everybody else. */
export interface CpuPlan {
  readonly measured: string | null;
  readonly others: string | null;
}

/**
 * One CPU for what is measured, the rest for load and holder: the scheduler would otherwise put them on one CPU now and
 * then, and the measurement would be of that. Where `taskset` is missing nothing is pinned.
 */
export function planCpus(): CpuPlan {
  return splitCpus(spawnSync('taskset', ['-V']).status === 0 ? allowedCpus() : []);
}

export function splitCpus([measured, ...others]: readonly number[]): CpuPlan {
  if (measured === undefined || others.length === 0) return { measured: null, others: null };
  return { measured: String(measured), others: others.join(',') };
}

function allowedCpus(): number[] {
  try {
    const [, list = ''] = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return parseCpuList(list);
  } catch {
    return [];
  }
}

/** `0-2,5` as `[0, 1, 2, 5]`. */
export function parseCpuList(list: string): number[] {
  return [...list.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => Number(first) + n),
  );
}
