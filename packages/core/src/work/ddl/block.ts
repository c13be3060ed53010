import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { dollarQuote, quoteLiteral } from './quote-literal.ts';
import { raise } from './raise.ts';
import type { Step } from './steps.ts';

export interface Block {
  /** Conditions that no change mends: statements that raise. */
  readonly requirements?: string;
  readonly steps: readonly Step[];
}

/** Enough for the transactions of an application to end; while this waits, all others on the table wait behind it. */
const LOCK_TIMEOUT = '3s';

/**
 * One `do` statement: a whole for every driver, pooler and migration tool, which splits it nowhere, and takes effect
 * as a whole or not at all, in a transaction or alone.
 *
 * First it looks whether anything is missing: once nothing is, it takes no lock. Then an advisory lock, of the
 * transaction, sends those that come at the same time one after the other.
 */
export function blockSql(table: ResolvedWorkTable, { requirements = '', steps }: Block): string {
  const { quoted } = table.table;
  return `do ${dollarQuote(`declare
  target constant regclass := to_regclass(${quoteLiteral(quoted)});
  lock_timeout_before constant text := current_setting('lock_timeout');
  problem text;
begin
if target is null then ${notFound(quoted)} end if;
if (select relkind from pg_class where oid = target) not in ('r', 'p') then ${noTable(quoted)} end if;
${requirements}
if not (${steps.map(({ missing }) => missing).join('\n  or ')}) then return; end if;
perform pg_advisory_xact_lock(hashtextextended('leasehold:work:' || target::oid, 0));
if lock_timeout_before = '0' then perform set_config('lock_timeout', '${LOCK_TIMEOUT}', true); end if;
-- Shared with readers and writers, and not with another build of an index on this table.
execute ${quoteLiteral(`lock table ${quoted} in share update exclusive mode`)};
${steps.map(({ missing, apply }) => `if ${missing} then\n  ${apply}\nend if;`).join('\n')}
perform set_config('lock_timeout', lock_timeout_before, true);
exception
  when lock_not_available then ${locked(quoted)}
  when check_violation then ${violated(quoted)}
  when invalid_object_definition then ${noFilter(quoted)}
end`)}`;
}

function notFound(quoted: string): string {
  return raise({ state: '42P01', message: `there is no table ${quoted}`, hint: 'Create it first, or name its schema.' });
}

function noTable(quoted: string): string {
  return raise({ state: '42809', message: `${quoted} is no table`, hint: 'Give a table, partitioned or not, and no view.' });
}

function locked(quoted: string): string {
  return raise({
    state: '55P03',
    message: `${quoted} is in use by another transaction, which did not end in time; nothing was changed`,
    hint: 'Run this again, or set a longer lock_timeout before it. pg_blocking_pids() tells who is in the way.',
    detail: 'sqlerrm',
  });
}

function violated(quoted: string): string {
  return raise({
    state: '23514',
    message: `${quoted} has rows without a due time, or with a number of attempts below 0; nothing was changed`,
    hint: 'Mend these rows, and run this again; doctor() counts them.',
    detail: 'sqlerrm',
  });
}

function noFilter(quoted: string): string {
  return raise({
    state: '42P17',
    message: `the live condition cannot be the filter of an index on ${quoted}; nothing was changed`,
    hint: 'It may use the columns of the row and immutable functions alone: no clock, no other table, no setting.',
    detail: 'sqlerrm',
  });
}
