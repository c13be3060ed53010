import { LeaseholdError } from '../errors.ts';

/** The five characters that PostgreSQL gives an error, or null when it came from elsewhere (the network, the driver). */
function sqlStateOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  // No SQLSTATE begins with E, and some codes of the operating system have five letters too, such as EPIPE.
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** SQLSTATEs after which a connection is of no more use: a standby, a shutdown, a protocol or connection failure. */
const BROKEN = /^(25006|57P0[1-5]|08...)$/;

export function isConnectionBroken(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null || BROKEN.test(state);
}

/** `lock_timeout` ended a wait. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03';
}

/** A serialization failure, a deadlock, a lock that was not to be had in time, too many connections. */
const PASSING = /^(40001|40P01|55P03|53...)$/;

/** The same statement may well succeed in a moment, on another connection where this one broke. */
export function isTransient(error: unknown): boolean {
  if (error instanceof LeaseholdError) return error.code === 'LEASEHOLD_STORE_TIMEOUT';
  if (error instanceof TypeError || error instanceof RangeError) return false;
  return isConnectionBroken(error) || PASSING.test(sqlStateOf(error) ?? '');
}

/** A value, a constraint, or what a trigger raises: the same statement may well succeed on other rows. */
const REFUSAL = /^(22|23|P0)...$/;

export function isRefusal(error: unknown): boolean {
  return REFUSAL.test(sqlStateOf(error) ?? '');
}

/** A value that does not fit, a NULL, a check: it is the row's own values that are refused, whatever other rows hold. */
const REFUSED_VALUE = /^(22...|23502|23514)$/;

export function isRefusedValue(error: unknown): boolean {
  return REFUSED_VALUE.test(sqlStateOf(error) ?? '');
}

/** An earlier statement of the transaction has failed, and it takes no other. */
export function isTransactionOver(error: unknown): boolean {
  return sqlStateOf(error) === '25P02';
}

const SCHEMA_PROBLEMS: ReadonlySet<string | null> = new Set(['42501', '42P01', '3F000', '42703']);

/** A right, a table, a schema or a column is missing. */
export function isSchemaProblem(error: unknown): boolean {
  return SCHEMA_PROBLEMS.has(sqlStateOf(error));
}

/** Puts what PostgreSQL or the network said into words that name the fix. */
export function explainError(error: unknown, schema: string): LeaseholdError {
  if (error instanceof LeaseholdError) return error;
  const said = messageOf(error);
  switch (sqlStateOf(error)) {
    case '42501':
      if (said.includes('database')) return mayNotCreateSchema(error, schema);
      return new LeaseholdError(
        'LEASEHOLD_PERMISSION_DENIED',
        `the database user lacks a right on schema "${schema}" (${said}); run the grants that grantsSql('${schema}', '<user>') prints.`,
        { cause: error },
      );
    case '42P01':
    case '3F000':
      return new LeaseholdError(
        'LEASEHOLD_SCHEMA_MISSING',
        `schema "${schema}" has no Leasehold tables (${said}); run the SQL that migrationSql('${schema}') prints, or set migrate: 'auto'.`,
        { cause: error },
      );
    case '42703':
      return new LeaseholdError(
        'LEASEHOLD_SCHEMA_OUTDATED',
        `schema "${schema}" is not the one of this version (${said}); run the SQL that migrationSql('${schema}') prints, or set migrate: 'auto'.`,
        { cause: error },
      );
    default:
      return new LeaseholdError('LEASEHOLD_STORE_UNAVAILABLE', `PostgreSQL could not be asked: ${said}`, { cause: error });
  }
}

function mayNotCreateSchema(error: unknown, schema: string): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_PERMISSION_DENIED',
    `the database user may not create schema "${schema}" (${messageOf(error)}); run "grant create on database … to <user>", or have ` +
      `an owner run the SQL that migrationSql('${schema}') and grantsSql('${schema}', '<user>') print.`,
    { cause: error },
  );
}

/** An AggregateError, of a host name with several addresses, has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
