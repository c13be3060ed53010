import { requireThat } from '../require-option.ts';

/** PostgreSQL cuts longer names silently, to NAMEDATALEN - 1 bytes. */
const LONGEST_IDENTIFIER_BYTES = 63;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveSchema(schema: unknown = 'leasehold'): string {
  const valid =
    typeof schema === 'string' &&
    schema.length > 0 &&
    Buffer.byteLength(schema) <= LONGEST_IDENTIFIER_BYTES &&
    !schema.startsWith('pg_') &&
    !/\p{Cc}/u.test(schema) &&
    schema.isWellFormed();
  requireThat(
    valid,
    'schema',
    schema,
    `give a name of 1 to ${LONGEST_IDENTIFIER_BYTES} bytes without control characters that does not begin with pg_`,
  );
  return schema;
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The NOTIFY channel of a schema. Schemas that share the first bytes share it, which costs a heartbeat and harms nothing. */
export function channelOf(schema: string): string {
  const prefix = 'leasehold_wake_';
  return (
    prefix +
    Buffer.from(schema)
      .subarray(0, LONGEST_IDENTIFIER_BYTES - prefix.length)
      .toString('latin1')
      .replaceAll(/[^\w]/g, '_')
  );
}
