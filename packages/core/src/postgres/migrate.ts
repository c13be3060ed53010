import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { LeaseholdError } from '../errors.ts';
import { requireThat } from '../require-option.ts';
import { quoteIdentifier, resolveSchema } from './identifier.ts';
import { migrations } from './migrations.generated.ts';

export interface MigrateOptions {
  readonly schema: string;
  readonly mode: 'auto' | 'never';
  /** @default the migrations of this library */
  readonly steps?: typeof migrations;
}

/**
 * Brings the schema to this library's version (`auto`), or checks that it is there (`never`).
 *
 * @throws {LeaseholdError} LEASEHOLD_SCHEMA_MISSING, LEASEHOLD_SCHEMA_OUTDATED, LEASEHOLD_SCHEMA_NEWER
 */
export async function migrate(client: Client, { schema, mode, steps = migrations }: MigrateOptions): Promise<void> {
  const version = await readVersion(client, schema);
  if (version === steps.length) return;
  if (version > steps.length) throw newer(schema, version, steps.length);
  if (mode === 'never') throw version === 0 ? missing(schema) : outdated(schema, version, steps.length);
  await applyMissing(client, schema, steps);
}

/** 0 when there is no schema. Read through the catalog first, since a missing table would be an error. */
async function readVersion(client: Client, schema: string): Promise<number> {
  const table = `${quoteIdentifier(schema)}.migration`;
  const found = await client.query('select where to_regclass($1) is not null', [table]);
  if (found.rowCount === 0) return 0;
  const { rows } = await client.query<{ version: string | number }>(`select coalesce(max(version), 0) as version from ${table}`);
  return Number(rows[0]?.version);
}

/** One transaction under an advisory lock, so that instances that start together migrate once. */
async function applyMissing(client: Client, schema: string, steps: typeof migrations): Promise<void> {
  // Waiting for the lock, or a large change, may take longer than a heartbeat; the caller's own deadline bounds it.
  await client.query('begin isolation level read committed; set local statement_timeout = 0');
  try {
    await client.query('select pg_advisory_xact_lock($1::bigint)', [lockKey(schema)]);
    // The lock may have been waited for while another instance did the work; look again under it.
    const exists = await client.query('select from pg_namespace where nspname = $1', [schema]);
    // `create schema if not exists` asks for a right on the database even where the schema exists.
    if (exists.rowCount === 0) await client.query(`create schema ${quoteIdentifier(schema)}`);
    await client.query(migrationTableSql(schema));
    const version = await readVersion(client, schema);
    if (version > steps.length) throw newer(schema, version, steps.length);
    for (const step of steps.slice(version)) await client.query(stepSql(step, schema));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

function migrationTableSql(schema: string): string {
  return `create table if not exists ${quoteIdentifier(schema)}.migration (
  version    integer     primary key,
  name       text        not null,
  applied_at timestamptz not null default clock_timestamp()
);`;
}

function stepSql(step: (typeof migrations)[number], schema: string): string {
  const quoted = quoteIdentifier(schema);
  const record = `insert into ${quoted}.migration (version, name) values (${step.version}, '${step.name}');`;
  return `${step.sql.replaceAll('{schema}', () => quoted)}\n${record}`;
}

/** The key of the advisory lock: the first 64 bits of SHA-256 over a name of our own, so that no application's lock is met by chance. */
function lockKey(schema: string): string {
  return createHash('sha256').update(`leasehold:migrate:${schema}`).digest().readBigInt64BE(0).toString();
}

/**
 * The whole schema as SQL, for teams whose migrations run elsewhere; then use `migrate: 'never'`.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function migrationSql(schema: string = 'leasehold', fromVersion: number = 0): string {
  const quoted = quoteIdentifier(resolveSchema(schema));
  const known = Number.isInteger(fromVersion) && fromVersion >= 0 && fromVersion <= migrations.length;
  requireThat(known, 'fromVersion', fromVersion, `give a version from 0 to ${migrations.length}`);
  const steps = migrations.slice(fromVersion).map((step) => `-- ${step.version}: ${step.name}\n${stepSql(step, schema)}`);
  const preamble = fromVersion === 0 ? `create schema if not exists ${quoted};\n${migrationTableSql(schema)}\n` : '';
  return `begin;\n${preamble}${steps.join('\n')}\ncommit;\n`;
}

/**
 * The rights that a least-privilege role needs to run with `migrate: 'never'`.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function grantsSql(schema: string, user: string): string {
  const quoted = quoteIdentifier(resolveSchema(schema));
  requireThat(
    typeof user === 'string' && user.length > 0 && !user.includes('\0'),
    'user',
    user,
    'give the name of a database user',
  );
  const to = quoteIdentifier(user);
  return `grant usage on schema ${quoted} to ${to};
grant select on ${quoted}.migration to ${to};
grant select, insert, update on ${quoted}.role_lease, ${quoted}.fence_guard to ${to};
grant select, insert, update, delete on ${quoted}.role_term, ${quoted}.instance to ${to};
`;
}

function missing(schema: string): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_SCHEMA_MISSING',
    `schema "${schema}" has no Leasehold tables and migrate is 'never'; run the SQL that migrationSql('${schema}') prints, or set migrate: 'auto'.`,
    { option: 'migrate' },
  );
}

function outdated(schema: string, version: number, latest: number): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_SCHEMA_OUTDATED',
    `schema "${schema}" is at version ${version}, this library needs ${latest}, and migrate is 'never'; run the SQL that migrationSql('${schema}', ${version}) prints, or set migrate: 'auto'.`,
    { option: 'migrate' },
  );
}

function newer(schema: string, version: number, latest: number): LeaseholdError {
  return new LeaseholdError(
    'LEASEHOLD_SCHEMA_NEWER',
    `schema "${schema}" is at version ${version}, newer than the ${latest} that this library knows; deploy the newer @leasehold/core here too.`,
    { option: 'schema' },
  );
}
