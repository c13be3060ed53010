import { quoteIdentifier } from '../postgres/identifier.ts';
import { requireThat } from '../require-option.ts';

/** PostgreSQL cuts longer names silently, to NAMEDATALEN - 1 bytes, and would then use another column than the one meant. */
const LONGEST_IDENTIFIER_BYTES = 63;

export interface TableName {
  /** Null where the search path decides. */
  readonly schema: string | null;
  readonly name: string;
  /** For SQL. */
  readonly quoted: string;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveTableName(table: unknown): TableName {
  const parts: readonly unknown[] = typeof table === 'string' ? table.split('.') : Array.isArray(table) ? table : [];
  requireThat(
    parts.length > 0 && parts.length <= 2,
    'table',
    table,
    "give its name, 'deliveries' or 'billing.deliveries', or a pair of names where one has a dot in it",
  );
  const names = parts.map((part) => resolveIdentifier('table', part));
  const name = names.at(-1) ?? '';
  const schema = names.length === 2 ? (names[0] ?? null) : null;
  return { schema, name, quoted: names.map(quoteIdentifier).join('.') };
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION unless it can be the name of a column or table. */
export function resolveIdentifier(option: string, name: unknown): string {
  const valid =
    typeof name === 'string' &&
    name.length > 0 &&
    Buffer.byteLength(name) <= LONGEST_IDENTIFIER_BYTES &&
    !/\p{Cc}/u.test(name) &&
    name.isWellFormed();
  requireThat(valid, option, name, `give a name of 1 to ${LONGEST_IDENTIFIER_BYTES} bytes without control characters`);
  return name;
}
