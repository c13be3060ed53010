import { randomInteger, seededRandom } from '../../lab/src/random.ts';

/** A body is a piece of this, at a place that its id names: both ends know what it must be, without a word about it. */
const POOL_SIZE = 1 << 20;
const PLACES = 4_096;

/** What a body would be if its framing were lost: a request. An instance that executes it writes down this id. */
const SMUGGLED = 'smuggled';
const SMUGGLED_REQUEST = Buffer.from(`0\r\n\r\nGET /held/answer?id=${SMUGGLED} HTTP/1.1\r\nHost: a\r\n\r\n`);

const pool = makePool();

function makePool(): Buffer {
  const random = seededRandom(1);
  const bytes = Buffer.alloc(POOL_SIZE);
  for (let at = 0; at < POOL_SIZE; at += 4) bytes.writeUInt32LE(randomInteger(random, 2 ** 32), at);
  return bytes;
}

/** The body of the answer to `id`. */
export function answerBody(id: string, size: number): Buffer {
  const from = placeOf(id);
  return pool.subarray(from, from + size);
}

/** The body of the request `id`: looks like a request of its own. */
export function uploadBody(id: string, size: number): Buffer {
  const rest = Math.max(size - SMUGGLED_REQUEST.length, 0);
  return Buffer.concat([SMUGGLED_REQUEST, answerBody(id, rest)]).subarray(0, size);
}

function placeOf(id: string): number {
  let hash = 7;
  for (let index = 0; index < id.length; index += 1) hash = (hash * 31 + id.charCodeAt(index)) % PLACES;
  return hash;
}

/** Follows bytes as they come: how many, and whether they are the expected ones. */
export class BodyCheck {
  readonly #expected: Buffer;
  received = 0;
  matches = true;

  constructor(expected: Buffer) {
    this.#expected = expected;
  }

  take(chunk: Buffer): void {
    const from = this.received;
    this.received += chunk.length;
    if (this.matches) this.matches = chunk.equals(this.#expected.subarray(from, this.received));
  }

  get isWhole(): boolean {
    return this.matches && this.received === this.#expected.length;
  }
}
