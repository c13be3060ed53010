import { createHash } from 'node:crypto';
import { LONGEST_IDENTIFIER_BYTES, type TableName } from '../work-table-name.ts';

export type Purpose = 'claim' | 'purge' | 'due' | 'attempts';

const HASH_CHARACTERS = 8;

/**
 * The name of an index or check that Leasehold adds: the table, what it is for, and a hash of its definition.
 *
 * The hash is what notices another definition: PostgreSQL prints an expression in words of its own, and comparing these
 * with ours would find differences where there are none. It also keeps the names apart of two tables whose own names are
 * cut to the same bytes.
 */
export function objectName({ name }: TableName, purpose: Purpose, definition: string): string {
  const hash = createHash('sha256').update(`${name}\n${purpose}\n${definition}`).digest('hex').slice(0, HASH_CHARACTERS);
  return `${objectNamePrefix(name, purpose)}${hash}`;
}

/** What the names for any definition begin with: all else on the table that begins so is of an earlier definition. */
export function objectNamePrefix(table: string, purpose: Purpose): string {
  const rest = `_${purpose}_`;
  return `${cutToBytes(table, LONGEST_IDENTIFIER_BYTES - rest.length - HASH_CHARACTERS)}${rest}`;
}

/** Whole characters: half of one is no name that PostgreSQL takes. */
function cutToBytes(text: string, bytes: number): string {
  let cut = '';
  for (const character of text) {
    if (Buffer.byteLength(cut) + Buffer.byteLength(character) > bytes) break;
    cut += character;
  }
  return cut;
}
