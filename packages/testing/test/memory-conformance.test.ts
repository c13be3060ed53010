import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { expect, test } from 'vitest';
import { leaseStoreConformance, manualClock } from '../src/index.ts';

const clock = manualClock();
const database = new MemoryDatabase({ clock });
const cases = leaseStoreConformance({
  createStore: () => memoryStore({ database }),
  transaction: (work) => database.transaction(work),
  advance: (ms) => clock.advance(ms),
  deleteRow: async (role) => database.deleteRow(role),
  changeLease: async (role, leaseMs) => database.changeLease(role, leaseMs),
});

for (const { name, run } of cases) test(`memory store: ${name}`, run);

test('each case has a name of its own', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});
