import { quoteLiteral } from './quote-literal.ts';

/*
 * Questions to the catalog, as conditions within a block in which `target` is the table's oid. They take no lock on the
 * table, whereas `alter table … add column if not exists` asks for the strongest of all even where nothing is to be added.
 */

export function columnMissing(column: string): string {
  return `not exists (select from pg_attribute where attrelid = target and attname = ${quoteLiteral(column)} and attnum > 0 and not attisdropped)`;
}

export function constraintMissing(name: string): string {
  return `not exists (select from pg_constraint where conrelid = target and conname = ${quoteLiteral(name)})`;
}

export function constraintNotValid(name: string): string {
  return `exists (select from pg_constraint where conrelid = target and conname = ${quoteLiteral(name)} and not convalidated)`;
}

/** Also true for an index that is not valid: the rest of a concurrent build that failed. */
export function indexMissing(name: string): string {
  return `not exists (select from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = target and relname = ${quoteLiteral(name)} and indisvalid)`;
}

export function indexNotValid(name: string): string {
  return `exists (select from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = target and relname = ${quoteLiteral(name)} and not indisvalid)`;
}
