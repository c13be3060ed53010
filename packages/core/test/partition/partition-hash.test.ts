import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { partitionOf, scopedPartitionOf } from '../../src/partition/partition-hash.ts';
import { randomOf } from '../support/fleet.ts';
import { referenceHash, referencePartition } from '../support/reference-hash.ts';

type Texts = readonly [key: string] | readonly [scope: string, key: string];
type Written = string | { readonly text: string; readonly times: number };

interface Vectors {
  readonly counts: readonly number[];
  /** `hash` in hexadecimal; `partitions` for each of the counts. */
  readonly vectors: readonly {
    readonly key: readonly Written[];
    readonly hash: string;
    readonly partitions: readonly number[];
  }[];
}

const { counts, vectors } = JSON.parse(readFileSync(new URL('hash-vectors.json', import.meta.url), 'utf8')) as Vectors;

const read = (text: Written): string => (typeof text === 'string' ? text : text.text.repeat(text.times));

function placeOf(texts: Texts, count: number): number {
  const [first, second] = texts;
  return second === undefined ? partitionOf(first, count) : scopedPartitionOf(first, second, count);
}

/** These are on the disks and in the heads of others: a change of any is a change of owner for that key. Never edit them. */
describe('the golden vectors', () => {
  it('are many, and have what breaks other hashes', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(200);
    const texts = vectors.map(({ key }) => key.map(read));
    expect(texts.some((key) => key.length === 1 && key[0] === '')).toBe(true);
    expect(texts.some((key) => key.some((text) => !text.isWellFormed()))).toBe(true);
    expect(texts.some((key) => key.some((text) => text.length >= 10_240))).toBe(true);
    expect(new Set(vectors.map(({ hash }) => hash)).size).toBe(vectors.length);
  });

  it.each(vectors)('$key is $hash', ({ key, hash, partitions }) => {
    const texts = key.map(read) as unknown as Texts;
    expect(referenceHash(...texts)).toBe(BigInt(`0x${hash}`));
    expect(counts.map((count) => placeOf(texts, count))).toEqual(partitions);
  });
});

describe('the hash', () => {
  it('is FNV-1a as it is published: of one zero, as the length of nothing is', () => {
    expect(referenceHash('')).toBe(0xaf63bd4c8601b7dfn);
  });

  it('is that of the definition for 100,000 random texts', () => {
    const random = randomOf(7);
    const text = (): string => {
      const width = random() < 0.5 ? 128 : 65_536;
      return String.fromCharCode(...Array.from({ length: random() * 24 }, () => random() * width));
    };
    let wrong = 0;
    for (let round = 0; round < 100_000; round += 1) {
      const count = 1 + Math.floor(random() * 4_096);
      const texts: Texts = round % 2 === 0 ? [text()] : [text(), text()];
      if (placeOf(texts, count) !== referencePartition(texts, count)) wrong += 1;
    }
    expect(wrong).toBe(0);
  });

  it('keeps scope and key apart', () => {
    const pairs: Texts[] = [['a', 'bc'], ['ab', 'c'], ['abc', ''], ['abc'], ['a', '\u00ffbc'], ['a\u00ff', 'bc'], ['', 'abc']];
    expect(new Set(pairs.map((texts) => referenceHash(...texts))).size).toBe(pairs.length);
    expect(scopedPartitionOf('a', 'bc', 4_096)).not.toBe(scopedPartitionOf('ab', 'c', 4_096));
  });
});

/** The value that chi-square with `freedom` exceeds once in 10,000 times, by Wilson and Hilferty. */
function rarelyExceeded(freedom: number): number {
  const spread = 2 / (9 * freedom);
  return freedom * (1 - spread + 3.719 * Math.sqrt(spread)) ** 3;
}

describe('keys as they are in life', () => {
  const random = randomOf(11);
  const hex = (digits: number): string => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const kinds: Readonly<Record<string, (n: number) => string>> = {
    'counted up': (n) => String(n),
    'with a word before': (n) => `device-${String(n).padStart(8, '0')}`,
    UUIDs: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    'addresses of mail': (n) => `${['anna', 'ben', 'carla', 'dev'][n % 4]}.${n}@${['example.com', 'mail.example.org'][n % 2]}`,
  };

  it.each(Object.keys(kinds).flatMap((kind) => [16, 64, 100, 4_096].map((count) => [kind, count] as const)))(
    '%s are spread evenly over %d',
    (kind, count) => {
      const keys = count * 50;
      const found = new Uint32Array(count);
      for (let n = 0; n < keys; n += 1) {
        const place = partitionOf((kinds[kind] as (n: number) => string)(n), count);
        found[place] = (found[place] ?? 0) + 1;
      }
      const expected = keys / count;
      const chiSquare = found.reduce((sum, each) => sum + (each - expected) ** 2 / expected, 0);
      expect(chiSquare).toBeLessThan(rarelyExceeded(count - 1));
    },
  );
});
