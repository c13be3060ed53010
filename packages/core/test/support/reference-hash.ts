const BASIS = 14695981039346656037n;
const PRIME = 1099511628211n;
const MASK = (1n << 64n) - 1n;

const mix = (hash: bigint, value: number): bigint => ((hash ^ BigInt(value)) * PRIME) & MASK;

function mixText(hash: bigint, text: string): bigint {
  let mixed = hash;
  for (let i = 0; i < text.length; i += 1) mixed = mix(mixed, text.charCodeAt(i));
  return mix(mixed, text.length);
}

/** The hash of partitions, word for word as it is defined: FNV-1a in 64 bits over UTF-16 code units and lengths. */
export function referenceHash(...texts: readonly [key: string] | readonly [scope: string, key: string]): bigint {
  const [first, second] = texts;
  const hash = mixText(BASIS, first);
  return second === undefined ? hash : mixText(mix(hash, 0xff), second);
}

export function referencePartition(texts: readonly [string] | readonly [string, string], count: number): number {
  return Number(referenceHash(...texts) % BigInt(count));
}
