/**
 * Which partition a key belongs to. This is a wire format: every instance of every version, and of every language in a mixed
 * fleet, has to come to the same number. It must never change; golden vectors keep it.
 *
 * 64-bit FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) over the UTF-16 code units of the key, then over its length,
 * modulo the count. The scoped form takes the scope, its length, 0xff, the key and its length, so that no two pairs run
 * together. It is the hash of the role partitions of Elarion for .NET (`RolePartitionHash`), so that both route alike.
 *
 * Written for the hot path: 64 bits as two numbers of 32, each product in pieces that stay small integers for V8. No BigInt,
 * nothing allocated. The prime is 2^40 + 0x1b3, so a product is the high half shifted by 8, plus 0x1b3 times the whole.
 */
const BASIS_HIGH = 0xcbf29ce4;
const BASIS_LOW = 0x84222325;
const PRIME_LOW = 0x1b3;
const SEPARATOR = 0xff;

/** The state between two steps. A pair of variables of this module, since a function cannot answer two numbers without allocating. */
let high = 0;
let low = 0;

export function partitionOf(key: string, count: number): number {
  begin();
  mixText(key);
  return modulo(count);
}

export function scopedPartitionOf(scope: string, key: string, count: number): number {
  begin();
  mixText(scope);
  mix(SEPARATOR);
  mixText(key);
  return modulo(count);
}

function begin(): void {
  high = BASIS_HIGH | 0;
  low = BASIS_LOW | 0;
}

/** A text and its length. The state is kept in local variables while the text is walked. */
function mixText(text: string): void {
  let h = high;
  let l = low;
  for (let i = 0; i < text.length; i++) {
    l ^= text.charCodeAt(i);
    const bottom = (l & 0xffff) * PRIME_LOW;
    const middle = (l >>> 16) * PRIME_LOW + (bottom >>> 16);
    h = (Math.imul(h, PRIME_LOW) + (middle >>> 16) + (l << 8)) | 0;
    l = (middle << 16) | (bottom & 0xffff);
  }
  high = h;
  low = l;
  mix(text.length);
}

function mix(value: number): void {
  const l = low ^ value;
  const bottom = (l & 0xffff) * PRIME_LOW;
  const middle = (l >>> 16) * PRIME_LOW + (bottom >>> 16);
  high = (Math.imul(high, PRIME_LOW) + (middle >>> 16) + (l << 8)) | 0;
  low = (middle << 16) | (bottom & 0xffff);
}

/** Of the 64 bits without a sign. For counts up to 4,096 every step is an exact integer. */
function modulo(count: number): number {
  return (((high >>> 0) % count) * (0x1_0000_0000 % count) + ((low >>> 0) % count)) % count;
}
