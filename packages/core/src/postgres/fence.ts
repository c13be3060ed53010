import type { ClientBase, Pool, PoolClient } from 'pg';
import { type Duration, resolveDuration } from '../duration.ts';
import { LeaseholdError } from '../errors.ts';
import type { Term } from '../lease/term.ts';
import { requireThat } from '../require-option.ts';
import type { TermIdentity } from '../store/lease-store.ts';
import { quoteIdentifier, resolveSchema } from './identifier.ts';
import { lend } from './lend.ts';
import { guardSql } from './sql/guard.ts';

/** Anything with pg's `query(text, values)`. */
export interface Queryable {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/**
 * Locks the lease row for the rest of the caller's transaction, if the term is still the current one.
 *
 * @throws {LeaseholdError} LEASEHOLD_FENCED, LEASEHOLD_FENCE_NEEDS_TRANSACTION, LEASEHOLD_FENCE_UNSUPPORTED
 */
export async function fenceIn(client: unknown, sql: string, term: TermIdentity): Promise<void> {
  const queryable = requireClient(client);
  const { rows } = await queryable.query(sql, [term.role, term.holder, String(term.fencingToken)]);
  if (rows.length !== 1) {
    throw new LeaseholdError('LEASEHOLD_FENCED', `term ${term.fencingToken} of role "${term.role}" is over; roll back.`, {
      role: term.role,
    });
  }
  if (!(await isInTransaction(queryable))) {
    throw new LeaseholdError(
      'LEASEHOLD_FENCE_NEEDS_TRANSACTION',
      'fence() was called on a client with no open transaction, where the lock ends with the statement; send BEGIN on this client first, or use withFence().',
      { role: term.role },
    );
  }
}

/** A pool would run each statement on another connection, outside any transaction. */
function requireClient(client: unknown): Queryable {
  const looksRight = typeof client === 'object' && client !== null && 'query' in client && typeof client.query === 'function';
  if (!looksRight || 'idleCount' in client) {
    throw new LeaseholdError(
      'LEASEHOLD_FENCE_UNSUPPORTED',
      'fence() needs one client with query(text, values) and an open transaction, not a pool; take one with pool.connect(), or use withFence().',
    );
  }
  return client as unknown as Queryable;
}

/** Older versions of pg do not tell. */
type TransactionTeller = Partial<Pick<ClientBase, 'getTransactionStatus'>>;

/** pg tells the state of the last answer; other clients are asked: a row lock has given an open transaction its id. */
async function isInTransaction(client: Queryable & TransactionTeller): Promise<boolean> {
  const status = client.getTransactionStatus?.();
  if (typeof status === 'string') return status === 'T';
  const { rows } = await client.query('select txid_current_if_assigned() is not null as open', []);
  return (rows[0] as { open?: boolean } | undefined)?.open === true;
}

export interface WithFenceOptions {
  /**
   * Longest time that one statement of the transaction may take, and that it may idle between two: a stalled fenced
   * transaction delays every failover of the role.
   *
   * @default '5s'
   */
  readonly stallTimeout?: Duration;
}

/** PostgreSQL takes no timeout over 24 days, and a day is longer than any transaction should be. */
const LONGEST_STALL_MS = 86_400_000;

/**
 * Runs `work` in a transaction of its own that commits only while the term is the current one: begin, fence, work, commit.
 * The successor's takeover waits for it.
 *
 * *Gotcha:* the commit's own outcome is unknown if the connection breaks during it, as with every database.
 *
 * @throws {LeaseholdError} LEASEHOLD_FENCED when the term is over; LEASEHOLD_FENCE_NEEDS_TRANSACTION when `work` ended the
 * transaction itself; LEASEHOLD_ROLLED_BACK; LEASEHOLD_INVALID_DURATION. What `work` throws is
 * thrown after a rollback.
 */
export async function withFence<T>(
  pool: Pool,
  term: Term,
  work: (client: PoolClient) => Promise<T>,
  options: WithFenceOptions = {},
): Promise<T> {
  requireThat(
    typeof pool?.connect === 'function' && 'totalCount' in pool,
    'pool',
    pool,
    'give the pg.Pool; inside a transaction of your own, use term.fence(client)',
  );
  requireThat(typeof term?.fence === 'function', 'term', term, 'give the term that whileHeld() hands to your work');
  requireThat(typeof work === 'function', 'work', work, 'give a function');
  const stallMs = resolveDuration('stallTimeout', options.stallTimeout ?? '5s', { max: LONGEST_STALL_MS });
  let broken: Error | undefined;
  const onError = (error: Error): void => void (broken = error);
  const client = await lend<PoolClient>(pool, onError);
  try {
    await client.query(
      `begin; set local statement_timeout = ${stallMs}; set local idle_in_transaction_session_timeout = ${stallMs}`,
    );
    await term.fence(client);
    const value = await work(client);
    await commit(client, term);
    return value;
  } catch (error) {
    await client.query('rollback').catch((failed: Error) => (broken ??= failed));
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** A transaction in which a statement has failed answers COMMIT with ROLLBACK, and no error: nothing would be written, silently. */
async function commit(client: PoolClient & TransactionTeller, term: Term): Promise<void> {
  if (client.getTransactionStatus?.() === 'I') {
    throw new LeaseholdError(
      'LEASEHOLD_FENCE_NEEDS_TRANSACTION',
      'the work of withFence() ended its transaction itself, and the fence with it; leave BEGIN, COMMIT and ROLLBACK to withFence(), or use a savepoint.',
      { role: term.role },
    );
  }
  const { command } = await client.query('commit');
  if (command !== 'ROLLBACK') return;
  throw new LeaseholdError(
    'LEASEHOLD_ROLLED_BACK',
    'a statement of the fenced transaction failed and its error was caught, so PostgreSQL rolled the transaction back at commit; let the error through, or use a savepoint.',
    { role: term.role },
  );
}

export interface FenceOptions {
  /** The client or pool that the guard writes with. Give the client of a transaction to make the guard part of it. */
  readonly client: Queryable;
  /** @default 'leasehold' */
  readonly schema?: string;
}

export interface Fence {
  /**
   * Remembers the highest token that touched a resource outside the database (a bucket, a device), and refuses a lower one.
   *
   * @throws {LeaseholdError} LEASEHOLD_FENCED, LEASEHOLD_INVALID_OPTION
   */
  guard(resource: string, fencingToken: bigint): Promise<void>;
}

const LONGEST_RESOURCE = 512;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function createFence({ client, schema }: FenceOptions): Fence {
  requireThat(typeof client?.query === 'function', 'client', client, 'give a pg client or pool');
  const sql = guardSql(quoteIdentifier(resolveSchema(schema)));
  return {
    guard: async (resource, fencingToken) => {
      const length = typeof resource === 'string' ? [...resource].length : 0;
      requireThat(
        length >= 1 && length <= LONGEST_RESOURCE,
        'resource',
        resource,
        `give a name of 1 to ${LONGEST_RESOURCE} characters`,
      );
      requireThat(
        typeof fencingToken === 'bigint' && fencingToken > 0n,
        'fencingToken',
        fencingToken,
        "give the term's fencingToken",
      );
      const { rows } = await client.query(sql, [resource, String(fencingToken)]);
      if (rows.length === 1) return;
      throw new LeaseholdError(
        'LEASEHOLD_FENCED',
        `token ${fencingToken} is lower than one that resource "${resource}" has seen; a later term is at work.`,
      );
    },
  };
}
