import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { isUnique } from '../statements/describe.ts';
import { quoteLiteral } from './quote-literal.ts';
import { raise } from './raise.ts';

/** What the application's table has to have before anything is added to it. Each failure names the option to change. */
export function requirements(table: ResolvedWorkTable): string {
  return [absent(table), wrongType(table), alwaysNullable(table), neverUnknown(table), uniqueId(table)].join('\n');
}

/** PostgreSQL would say which column, and not which option names it. */
function absent(table: ResolvedWorkTable): string {
  const named: readonly (readonly [option: string, column: string | null | undefined])[] = [
    ...table.id.map((column) => ['id', column] as const),
    ['orderBy', table.orderBy],
    ['attempts', table.attempts?.column],
    ['deadline', table.deadline],
    ['priority', table.priority?.column],
    ...table.groupBy.map((column) => ['groupBy', column] as const),
    ...Object.keys(table.done).map((column) => ['done', column] as const),
    ...Object.keys(table.dead?.set ?? {}).map((column) => ['dead', column] as const),
    ['dead.reason', table.dead?.reason],
  ];
  const values = named.flatMap(([option, column]) =>
    typeof column === 'string' ? [`(${quoteLiteral(option)}, ${quoteLiteral(column)})`] : [],
  );
  return `select format('%s has no column %s, which is named by ''%s''', target, quote_ident(name), option)
  into problem
  from (values ${values.join(', ')}) as need (option, name)
  where not exists (select from pg_attribute where attrelid = target and attname = name and attnum > 0 and not attisdropped) limit 1;
if problem is not null then
  raise exception using errcode = '42703', message = 'leasehold: ' || problem, hint = 'Add it, or name another column.';
end if;`;
}

/** Of the first domain, where the type is one. */
const BASE_TYPE = '(select coalesce(nullif(typbasetype, 0), oid) from pg_type where oid = atttypid)';

function wrongType(table: ResolvedWorkTable): string {
  const needed: readonly (readonly [option: string, column: string, type: string])[] = [
    ['columns.lockId', table.lockId, 'uuid'],
    ['columns.lockedUntil', table.lockedUntil, 'timestamptz'],
    ['orderBy', table.orderBy, 'timestamptz'],
    ...(table.deadline === null ? [] : [['deadline', table.deadline, 'timestamptz'] as const]),
  ];
  const values = needed.map(([option, column, type]) => `(${quoteLiteral(option)}, ${quoteLiteral(column)}, '${type}'::regtype)`);
  return `select format('the column %s of %s, named by ''%s'', is of type %s, and has to be %s', quote_ident(attname), target, option, format_type(atttypid, atttypmod), needed)
  into problem
  from (values ${values.join(', ')}) as need (option, name, needed)
  join pg_attribute on attrelid = target and attname = name and attnum > 0 and not attisdropped
  where ${BASE_TYPE} <> needed limit 1;
if problem is not null then
  raise exception using errcode = '42804', message = 'leasehold: ' || problem, hint = 'Change its type, or name another column.';
end if;`;
}

/** A lease is cleared by writing NULL. */
function alwaysNullable(table: ResolvedWorkTable): string {
  const columns = `${quoteLiteral(table.lockId)}, ${quoteLiteral(table.lockedUntil)}`;
  const problem = raise({
    state: '42P16',
    message: `the lease columns of ${table.table.quoted} have to allow NULL, which a row has that nobody leases`,
    hint: 'Run "alter table … alter column … drop not null" for both.',
  });
  return `if exists (select from pg_attribute where attrelid = target and attname in (${columns}) and attnotnull and not attisdropped) then
  ${problem}
end if;`;
}

/** What the claim asks for too: a row with NULL there would never be claimed, or its attempts never be used up. */
function neverUnknown(table: ResolvedWorkTable): string {
  const named = [table.orderBy, ...(table.attempts === null ? [] : [table.attempts.column])];
  const condition = `attrelid = target and attname in (${named.map(quoteLiteral).join(', ')}) and not attnotnull and not attisdropped`;
  return `select format('the column %s of %s may be NULL: such a row would never be claimed, or its attempts never be used up', quote_ident(attname), target)
  into problem from pg_attribute where ${condition} order by attnum limit 1;
if problem is not null then
  raise exception using errcode = '42P16', message = 'leasehold: ' || problem, hint = 'Give it a value in every row, and run "alter table … alter column … set not null".';
end if;`;
}

/** What the claim asks for too: the outcome of one row would be written into all that have its id. */
function uniqueId(table: ResolvedWorkTable): string {
  const problem = raise({
    state: '42P16',
    message: `nothing makes the id (${table.id.join(', ')}) of ${table.table.quoted} unique`,
    hint: "Give it a primary key or a unique index of just that, or name other columns by 'id'.",
  });
  return `if not ${isUnique('target', `array[${table.id.map(quoteLiteral).join(', ')}]::text[]`)} then
  ${problem}
end if;`;
}
