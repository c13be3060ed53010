import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Which CPUs the process under test has for itself, and which are left for everybody else. */
export interface CpuPlan {
  readonly measured: string | null;
  readonly others: string | null;
}

/**
 * One CPU for what is measured, the rest for load and holder: the scheduler would otherwise put them on one CPU now and
 * then, and the measurement would be of that. Where `taskset` is missing, or there is one CPU, nothing is pinned.
 */
export function planCpus(): CpuPlan {
  const allowed = allowedCpus();
  if (allowed.length < 2 || spawnSync('taskset', ['-V']).status !== 0) return { measured: null, others: null };
  const [measured, ...others] = allowed;
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
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}
