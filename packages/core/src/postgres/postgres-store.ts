import { LeaseholdError } from '../errors.ts';
import { requireKnown, requireThat } from '../require-option.ts';
import { type Duration, resolveDuration } from '../duration.ts';
import { type Logger, silentLogger } from '../logger.ts';
import type {
  HeartbeatReply,
  HeartbeatRequest,
  LeaseStore,
  ReleaseReply,
  ReleaseRequest,
  StoreCall,
  StoreContext,
  TermIdentity,
} from '../store/lease-store.ts';
import { DedicatedConnection } from './connection.ts';
import { type ConnectionSource, resolveConnectionConfig } from './connection-config.ts';
import { createRows } from './create-rows.ts';
import { explainError, isSchemaProblem } from './errors.ts';
import { fenceIn } from './fence.ts';
import { askHeartbeat, type HeartbeatRow, isOfRole, mergeReply, missingRoles, takeableAtOnce } from './heartbeat-rows.ts';
import { channelOf, quoteIdentifier, resolveSchema } from './identifier.ts';
import { migrate } from './migrate.ts';
import { createRowsSql } from './sql/create-rows.ts';
import { fenceSql } from './sql/fence.ts';
import { forgetInstancesSql } from './sql/forget-instances.ts';
import { heartbeatSql } from './sql/heartbeat.ts';
import { releaseSql } from './sql/release.ts';
import { readWakeUp } from './wake-up.ts';

export interface PostgresStoreOptions extends ConnectionSource {
  /** @default 'leasehold' */
  readonly schema?: string;
  /** `auto` creates and updates the schema at start; `never` only checks it. @default 'auto' */
  readonly migrate?: 'auto' | 'never';
  /** How long ended terms stay in `role_term`. @default '30d' */
  readonly keepTerms?: Duration;
}

const OPTIONS = [
  'connectionString',
  'connection',
  'pool',
  'schema',
  'migrate',
  'keepTerms',
] as const satisfies (keyof PostgresStoreOptions)[];

/** A {@link LeaseStore} on PostgreSQL 14 or later. */
export interface PostgresStore extends LeaseStore {
  readonly schema: string;
  /** Whether wake-ups arrive by LISTEN. False behind a transaction pooler, where everything works by polling alone. */
  readonly listens: boolean;
}

/**
 * Keeps leases in the PostgreSQL that the application runs already, over one connection of its own.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  requireThat(
    typeof options === 'object' && options !== null,
    'options',
    options,
    'give an object, such as { connectionString }',
  );
  requireKnown('postgresStore()', options, OPTIONS);
  const { migrate: mode = 'auto' } = options;
  requireThat(mode === 'auto' || mode === 'never', 'migrate', mode, "give 'auto' or 'never'");
  return new ManagedPostgresStore(options, mode);
}

class ManagedPostgresStore implements PostgresStore {
  readonly name = 'postgres';
  readonly schema: string;
  readonly #mode: 'auto' | 'never';
  readonly #config: ReturnType<typeof resolveConnectionConfig>;
  readonly #keepTermsMs: number;
  readonly #sql: Readonly<Record<'heartbeat' | 'release' | 'createRows' | 'forgetInstances' | 'fence', string>>;
  #connection: DedicatedConnection | null = null;
  #logger: Logger = silentLogger;
  #cannotCreate = false;

  constructor(options: PostgresStoreOptions, mode: 'auto' | 'never') {
    this.schema = resolveSchema(options.schema);
    this.#mode = mode;
    this.#config = resolveConnectionConfig(options);
    this.#keepTermsMs = resolveDuration('keepTerms', options.keepTerms ?? '30d');
    const quoted = quoteIdentifier(this.schema);
    this.#sql = {
      heartbeat: heartbeatSql(quoted),
      release: releaseSql(quoted),
      createRows: createRowsSql(quoted),
      forgetInstances: forgetInstancesSql(quoted),
      fence: fenceSql(quoted),
    };
  }

  get listens(): boolean {
    return this.#connection?.listens ?? false;
  }

  async open(context: StoreContext, call: StoreCall): Promise<void> {
    this.#logger = context.logger;
    this.#connection ??= this.#createConnection(context);
    const { schema } = this;
    await this.#explained(async (connection) => {
      await connection.use(call.signal, (client) => migrate(client, { schema, mode: this.#mode }));
      await connection.query(this.#sql.forgetInstances, [], call.signal);
    });
  }

  #createConnection({ instance, wakeUp, longestCallMs, logger }: StoreContext): DedicatedConnection {
    return new DedicatedConnection({
      config: this.#config,
      channel: channelOf(this.schema),
      statementTimeoutMs: longestCallMs,
      onNotification: (payload) => {
        const roles = readWakeUp(payload, instance.id);
        if (roles !== null) wakeUp(roles);
      },
      onDrop: (error) => {
        logger.warn({ err: error }, 'the connection to PostgreSQL was lost; it is made anew');
        wakeUp('all');
      },
    });
  }

  async heartbeat(request: HeartbeatRequest, call: StoreCall): Promise<HeartbeatReply> {
    return this.#explained(async (connection) => {
      const rows = await this.#beat(connection, request, call);
      const missing = missingRoles(request, rows);
      if (missing.length === 0) return mergeReply(request, rows);
      try {
        const insert = (values: unknown[]): Promise<unknown> => connection.query(this.#sql.createRows, values, call.signal);
        await createRows(missing, { insert, timeoutMs: call.timeoutMs });
        const acquire = takeableAtOnce(missing, rows);
        const again = await this.#beat(connection, { ...request, renew: [], observe: [], acquire }, call);
        rows.push(...again.filter(isOfRole));
        this.#cannotCreate = false;
      } catch (error) {
        // What was told of the other roles stands: above all that they were renewed.
        if (!rows.some(isOfRole)) throw error;
        this.#tellCannotCreate(error);
      }
      return mergeReply(request, rows);
    });
  }

  /** Once, until it goes well again: heartbeats write no lines. */
  #tellCannotCreate(error: unknown): void {
    if (!this.#cannotCreate) this.#logger.warn({ err: explainError(error, this.schema) }, 'new roles could not be taken');
    this.#cannotCreate = true;
  }

  #beat(connection: DedicatedConnection, request: HeartbeatRequest, call: StoreCall): Promise<HeartbeatRow[]> {
    const values = askHeartbeat(request, { channel: channelOf(this.schema), keepTermsMs: this.#keepTermsMs });
    return connection.query<HeartbeatRow>(this.#sql.heartbeat, values, call.signal);
  }

  async release({ instance, roles, leaving }: ReleaseRequest, call: StoreCall): Promise<ReleaseReply> {
    return this.#explained(async (connection) => {
      const names = roles.map(({ role }) => role);
      const tokens = roles.map(({ fencingToken }) => (fencingToken === null ? null : String(fencingToken)));
      const values = [names, tokens, instance.id, leaving, channelOf(this.schema)];
      const rows = await connection.query<{ told: string; role: string }>(this.#sql.release, values, call.signal);
      const told = new Map(rows.map((row) => [row.role, row.told]));
      const outcomeOf = (role: string) =>
        told.get(role) === 'released' ? 'released' : told.get(role) === 'locked' ? 'unknown' : 'not-held';
      return { roles: new Map(names.map((role) => [role, outcomeOf(role)])) };
    });
  }

  async fence(client: unknown, term: TermIdentity): Promise<void> {
    try {
      await fenceIn(client, this.#sql.fence, term);
    } catch (error) {
      // What is wrong with the schema or the rights is explained; the rest is the caller's transaction's own, SQLSTATE and all.
      throw isSchemaProblem(error) ? explainError(error, this.schema) : error;
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await connection?.close();
  }

  async #explained<T>(work: (connection: DedicatedConnection) => Promise<T>): Promise<T> {
    if (this.#connection === null) {
      throw new LeaseholdError(
        'LEASEHOLD_STORE_CLOSED',
        'the PostgreSQL store is not open; start() opens it and stop() closes it.',
      );
    }
    try {
      return await work(this.#connection);
    } catch (error) {
      throw explainError(error, this.schema);
    }
  }
}
