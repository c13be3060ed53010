import { createLeasehold, type LeaseholdOptions, resolveAddress, showValue } from '@leasehold/core';
import { postgresStore, type PostgresStoreOptions } from '@leasehold/core/postgres';
import { describe, expect, it } from 'vitest';

const URLS = [
  'postgres://user:s3cret@db:5432/app',
  'postgresql://user:s3/cret@x@db/app',
  'postgres://db/app?user=u&password=s3cret',
  ' postgres://user:s3cret@db',
];

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  return expect.unreachable('an error was expected');
}

describe('a connection string in the wrong place is not repeated in the error', () => {
  it.each(URLS)('%s', (url) => {
    const messages = [
      messageOf(() => postgresStore(url as PostgresStoreOptions)),
      messageOf(() => postgresStore({ connectionString: 'postgres://db/app', schema: url.padEnd(64, 'x') })),
      messageOf(() => createLeasehold(url as LeaseholdOptions)),
      messageOf(() => createLeasehold({ store: url as never })),
      messageOf(() => createLeasehold({ instance: { label: url.padEnd(65, 'x') } })),
      messageOf(() => resolveAddress('address', url)),
    ];
    for (const message of messages) expect(message).not.toMatch(/s3|cret/);
  });

  it('while a value without secrets is shown', () => {
    expect(showValue('http://app-03:80/path')).toBe('"http://app-03:80/path"');
    expect(showValue('postgres')).toBe('"postgres"');
  });
});
