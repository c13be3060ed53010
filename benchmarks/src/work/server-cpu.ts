import { readdirSync, readFileSync } from 'node:fs';

/** In milliseconds, by process id, of all processes of the server; empty where the system does not say. */
export type ServerCpu = ReadonlyMap<number, number>;

/** Only where there is `/proc`; elsewhere CPU time is not reported. */
export function readServerCpu(postmaster: number): ServerCpu {
  const cpu = new Map<number, number>();
  for (const pid of processesOf(postmaster)) {
    const [nanoseconds = ''] = read(`/proc/${pid}/schedstat`).split(' ');
    if (nanoseconds !== '') cpu.set(pid, Number(nanoseconds) / 1e6);
  }
  return cpu;
}

/** Of processes that ended meanwhile nothing is known; those that began count from zero. */
export function cpuBetween(before: ServerCpu, after: ServerCpu): number {
  if (after.size === 0) return Number.NaN;
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}

/** The parent of a backend is the server itself. */
export function parentOf(pid: number): number {
  // The second field is the name of the program, and may contain anything but this.
  return Number(read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1]);
}

function processesOf(postmaster: number): number[] {
  if (Number.isNaN(postmaster)) return [];
  return list().filter((pid) => pid === postmaster || parentOf(pid) === postmaster);
}

function list(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
