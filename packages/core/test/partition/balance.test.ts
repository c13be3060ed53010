import { describe, expect, it } from 'vitest';
import { fairShares, type Share } from '../../src/partition/balance.ts';
import { readRoleSet, writeRoleSet } from '../../src/partition/role-set.ts';
import { randomOf } from '../support/fleet.ts';

function member(id: string, rest: Partial<Share> = {}): Share {
  return { id, weight: 1, capacity: Number.POSITIVE_INFINITY, held: 0, ...rest };
}

const sharesOf = (count: number, members: readonly Share[]): Record<string, number> =>
  Object.fromEntries(fairShares(count, members));

describe('fair shares', () => {
  it.each<[string, number, Share[], Record<string, number>]>([
    ['nobody', 5, [], {}],
    ['one', 5, [member('a')], { a: 5 }],
    ['three, evenly', 9, ['a', 'b', 'c'].map((id) => member(id)), { a: 3, b: 3, c: 3 }],
    ['what is left over goes by id between equals', 8, ['c', 'a', 'b'].map((id) => member(id)), { a: 3, b: 3, c: 2 }],
    [
      'what is left over stays where it is',
      4,
      [member('a'), member('b', { held: 2 }), member('c', { held: 2 })],
      { a: 1, b: 2, c: 1 },
    ],
    ['more members than roles', 1, [member('a'), member('b', { held: 1 })], { a: 0, b: 1 }],
    ['weights', 12, [member('a', { weight: 3 }), member('b')], { a: 9, b: 3 }],
    ['weights that leave something over', 4, [member('a', { weight: 1_000, held: 4 }), member('b')], { a: 4, b: 0 }],
    ['a bound', 10, [member('a', { capacity: 1 }), member('b'), member('c')], { a: 1, b: 5, c: 4 }],
    ['bounds that leave roles to nobody', 10, [member('a', { capacity: 1 }), member('b', { capacity: 2 })], { a: 1, b: 2 }],
    ['one that can hold none', 3, [member('a', { capacity: 0, held: 3 }), member('b')], { a: 0, b: 3 }],
  ])('%s', (_, count, members, expected) => {
    expect(sharesOf(count, members)).toEqual(expected);
  });

  it('add up, keep within the bounds, and are within one of even, whoever adds them up', () => {
    const random = randomOf(1);
    for (let round = 0; round < 5_000; round += 1) {
      const count = 1 + Math.floor(random() * 200);
      const members = Array.from({ length: 1 + Math.floor(random() * 9) }, (_, n) =>
        member(`m${n}`, {
          weight: 1 + Math.floor(random() * 3),
          capacity: random() < 0.3 ? Math.floor(random() * 40) : count,
          held: Math.floor(random() * 50),
        }),
      );
      const shares = fairShares(count, members);
      expect(fairShares(count, members.toReversed())).toEqual(shares);
      const capacity = members.reduce((sum, one) => sum + one.capacity, 0);
      expect([...shares.values()].reduce((a, b) => a + b)).toBe(Math.min(count, capacity));
      for (const { id, capacity: most } of members) expect(shares.get(id)).toBeLessThanOrEqual(most);
      const open = members.filter((one) => (shares.get(one.id) ?? 0) < one.capacity);
      const each = open.map((one) => (shares.get(one.id) ?? 0) / one.weight);
      for (const one of open) expect(Math.max(...each) - (shares.get(one.id) ?? 0) / one.weight).toBeLessThanOrEqual(1);
    }
  });
});

describe('a set of roles', () => {
  it.each([1, 3, 4, 5, 64, 4_096])('of %d is read as it was written', (count) => {
    const random = randomOf(count);
    for (let round = 0; round < 50; round += 1) {
      const set = Array.from({ length: count }, () => random() < 0.5);
      const written = writeRoleSet(count, (partition) => set[partition] === true);
      if (set.includes(true)) expect(written).toMatch(/^[0-9a-f]+$/);
      expect(readRoleSet(count, written)).toEqual(set);
    }
  });

  it('is written as the interface of a store says', () => {
    expect(writeRoleSet(9, (partition) => [0, 5, 8].includes(partition))).toBe('121');
    expect(writeRoleSet(9, () => false)).toBeUndefined();
  });

  it('that is none excludes nothing', () => {
    expect(readRoleSet(3, 'x')).toEqual([false, false, false]);
    expect(readRoleSet(3, undefined)).toEqual([false, false, false]);
  });
});
