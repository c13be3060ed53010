import { quoteIdentifier } from '../../postgres/identifier.ts';
import type { ResolvedWorkTable } from '../resolve-work-table.ts';
import { indexMissing } from './catalog.ts';
import type { WorkIndex } from './indexes.ts';
import { raise } from './raise.ts';
import type { Step } from './steps.ts';

/** `create index concurrently if not exists` is content with whatever has the name, and leaves an index that is not valid when it fails. */
export function verifyStep({ table }: ResolvedWorkTable, { name }: WorkIndex): Step {
  const problem = raise({
    state: '55000',
    message: `the index ${quoteIdentifier(name)} of ${table.quoted} is not there, or is not valid`,
    hint: 'Another build may still be under way, or has failed: run all statements again.',
  });
  return { missing: indexMissing(name), apply: problem };
}

/** PostgreSQL builds no index concurrently on a partitioned table. */
export function requirePlain({ table }: ResolvedWorkTable): string {
  const problem = raise({
    state: '0A000',
    message: `${table.quoted} is partitioned, and PostgreSQL builds no index of such a table concurrently`,
    hint: 'Use ddl(). Where that would lock it for too long, create the index on each partition first.',
  });
  return `if (select relkind from pg_class where oid = target) = 'p' then ${problem} end if;`;
}
