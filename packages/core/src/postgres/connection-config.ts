import { Client, type ClientConfig, type Pool } from 'pg';
import { LeaseholdError } from '../errors.ts';

/** Every value as PostgreSQL's text: an application may have replaced any parser of pg, for all connections of the process. */
const PLAIN = { binary: false, types: { getTypeParser: () => String } } as const satisfies ClientConfig & { binary: boolean };

/** Exactly one of the three. */
export interface ConnectionSource {
  /** Such as `postgres://user:password@host:5432/database`. */
  readonly connectionString?: string | undefined;
  /** What `new pg.Client()` takes. */
  readonly connection?: ClientConfig | undefined;
  /** A pool whose options are copied. No client is ever taken from it: a starved pool must not cost a lease. */
  readonly pool?: Pool | undefined;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION; the message names no value, which may hold a password. */
export function resolveConnectionConfig(source: ConnectionSource): ClientConfig {
  const { connectionString, connection, pool } = source;
  const given = Object.entries({ connectionString, connection, pool }).filter(([, value]) => value !== undefined);
  if (given.length === 0) {
    throw invalid('connectionString', 'connectionString, connection or pool is needed; is the environment variable set?');
  }
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(' and ');
    throw invalid('connectionString', `${names} were given; give one of them.`);
  }
  if (connectionString !== undefined) requirePostgresUrl(connectionString);
  const config =
    connectionString !== undefined ? { connectionString } : copyOptions(pool === undefined ? connection : poolOptions(pool));
  const { query_timeout: _left, ...kept } = config;
  return requireUsable({ keepAlive: true, fallback_application_name: 'leasehold', ...kept, ...PLAIN });
}

function requirePostgresUrl(connectionString: unknown): void {
  if (connectionString === '') throw invalid('connectionString', 'connectionString is empty; is the environment variable set?');
  // A path is a folder of sockets, which the driver takes too.
  if (typeof connectionString === 'string' && /^(?:postgres(?:ql)?:|socket:|\/)/i.test(connectionString)) return;
  throw invalid('connectionString', 'connectionString is not one such as postgres://user@host:5432/database.');
}

function poolOptions(pool: Pool | null): ClientConfig {
  const options: unknown = pool?.options;
  if (typeof options !== 'object' || options === null)
    throw invalid('pool', 'pool is not a pg.Pool; give one, or a connectionString.');
  return options;
}

/** `password` is not enumerable on a pool's options, so that it does not get logged, and a spread would lose it. */
function copyOptions(options: ClientConfig | null | undefined): ClientConfig {
  if (typeof options !== 'object' || options === null)
    throw invalid('connection', 'connection is not an object such as { host, user, password, database }.');
  return options.password === undefined ? { ...options } : { ...options, password: options.password };
}

function requireUsable(config: ClientConfig): ClientConfig {
  try {
    void new Client(config);
    return config;
  } catch (error) {
    // The driver's own error may quote the connection string, password and all; its code does not.
    const code = (error as NodeJS.ErrnoException).code ?? 'malformed';
    throw invalid(
      'connectionString',
      `the connection options cannot be used (${code}): a file that they name is missing, or they are malformed; ` +
        'a connectionString looks like postgres://user:password@host:5432/database, with special characters percent-encoded.',
    );
  }
}

function invalid(option: string, message: string): LeaseholdError {
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option });
}
