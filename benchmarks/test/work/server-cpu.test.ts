import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cpuBetween, parentOf, readServerCpu } from '../../src/work/server-cpu.ts';

describe('CPU time between two readings', () => {
  it('is that of all processes, also of those that began meanwhile', () => {
    const before = new Map([[1, 10], [2, 20], [3, 30]]); // prettier-ignore
    expect(cpuBetween(before, new Map([[1, 11], [2, 22], [4, 5]]))).toBe(8); // prettier-ignore
  });

  it('is not known where the system does not say', () => {
    expect(cpuBetween(new Map(), new Map())).toBeNaN();
  });
});

describe.runIf(existsSync('/proc/self/schedstat'))('on Linux', () => {
  it('knows the parent of a process', () => {
    expect(parentOf(process.pid)).toBe(process.ppid);
  });

  it('reads the time of a process and of its children', () => {
    const cpu = readServerCpu(process.ppid);
    expect(cpu.get(process.pid)).toBeGreaterThan(0);
    expect(cpu.has(process.ppid)).toBe(true);
  });

  it('knows nothing of the processes of a server that it does not know', () => {
    expect(readServerCpu(Number.NaN).size).toBe(0);
  });
});
