import { grantsSql, migrationSql, postgresStore } from '@leasehold/core/postgres';
import { MemoryDatabase } from '@leasehold/core/memory';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { resolveConnectionConfig } from '../../src/postgres/connection-config.ts';

const invalid = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });

describe('connection options', () => {
  it('keep the password that a pool hides from loggers, wherever they are given', () => {
    const pool = new pg.Pool({ host: 'db', password: 's3cret' });
    expect(resolveConnectionConfig({ pool })).toMatchObject({ host: 'db', password: 's3cret' });
    expect(resolveConnectionConfig({ connection: pool.options })).toMatchObject({ host: 'db', password: 's3cret' });
  });

  it('tell a missing file from a malformed string, and repeat neither', () => {
    const withFile = { connectionString: 'postgres://u:s3cret@h/d?sslcert=/nowhere/cert.pem' };
    expect(() => postgresStore(withFile)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^(?!.*s3cret).*ENOENT/) }),
    );
    for (const wrong of [
      { connection: 'postgres://u:s3cret@h/d' },
      { connection: null },
      { pool: null },
      { connectionString: null },
    ]) {
      expect(() => postgresStore(wrong as never)).toThrow(invalid(Object.keys(wrong)[0] ?? ''));
    }
  });
});

describe('SQL for other tools', () => {
  it.each([-1, 0.5, 99, '1'])('is refused from version %o', (version) => {
    expect(() => migrationSql('leasehold', version as number)).toThrow(invalid('fromVersion'));
  });

  it.each([undefined, '', 'a\0b'])('is refused for user %o', (user) => {
    expect(() => grantsSql('leasehold', user as string)).toThrow(invalid('user'));
  });

  it.each(['', 'a\0b', 'x'.repeat(64), 'pg_own'])('is refused for schema %o', (schema) => {
    expect(() => grantsSql(schema, 'app')).toThrow(invalid('schema'));
  });
});

it('a fence of the memory store without a transaction says so', () => {
  const term = { role: 'r', holder: 'a', fencingToken: 1n };
  for (const transaction of [undefined, null, {}]) {
    const call = (): void => new MemoryDatabase().fence(transaction as never, term);
    expect(call).toThrow(expect.objectContaining({ code: 'LEASEHOLD_FENCE_NEEDS_TRANSACTION' }));
  }
});
