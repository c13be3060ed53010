import { expect, it } from 'vitest';
import { parseCpuList, splitCpus } from '../../src/proxy/processes/cpus.ts';

it.each([
  ['0-1', [0, 1]],
  ['3', [3]],
  ['0-2,5,8-9', [0, 1, 2, 5, 8, 9]],
  ['', []],
])('reads the list %j', (list, cpus) => {
  expect(parseCpuList(list)).toEqual(cpus);
});

it('gives one CPU to what is measured and the rest to everybody else', () => {
  expect(splitCpus([2, 3, 5])).toEqual({ measured: '2', others: '3,5' });
});

it.each([[[]], [[4]]])('pins nothing where there is nothing to share out: %j', (allowed) => {
  expect(splitCpus(allowed)).toEqual({ measured: null, others: null });
});
