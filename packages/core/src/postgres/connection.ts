import { Client, type ClientConfig } from 'pg';
import { delay, systemClock } from '../clock.ts';
import { LeaseholdError } from '../errors.ts';
import { isConnectionBroken } from './errors.ts';

export interface ConnectionOptions {
  readonly config: ClientConfig;
  /** The channel to listen on where there is no pooler in between. */
  readonly channel: string;
  /** The server gives a statement up after this time too, so that a call given up here does not take effect much later. */
  readonly statementTimeoutMs: number;
  readonly onNotification: (payload: string) => void;
  /** The connection went away between two calls: notifications may have been missed. */
  readonly onDrop: (error: Error) => void;
}

/**
 * Against defaults of a server or a user that do not suit this connection: it idles between heartbeats, and relies on rows
 * being evaluated anew once they are locked. And against functions and operators of others: where somebody may create
 * them in a schema of the search path, those that match better than the ones of PostgreSQL would run with our rights.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  idle_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  search_path: 'pg_catalog',
};

/**
 * The one connection of a process, apart from the application's pool, so that a starved pool does not cost a lease.
 *
 * It connects when it is first needed and again whenever it was lost. A call that is given up destroys it: what the
 * server still does with the statement is not waited for, and no later answer can be taken for that of another call.
 */
export class DedicatedConnection {
  readonly #options: ConnectionOptions;
  #client: Client | null = null;
  /** The client that is being connected, so that it too can be destroyed. */
  #pending: Client | null = null;
  #last: Promise<void> = Promise.resolve();
  #closed = false;
  #listens = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Whether notifications arrive. Without them (a pooler is in between) everything works by polling. */
  get listens(): boolean {
    return this.#listens;
  }

  /** Runs one statement, unnamed, until `signal` aborts. */
  async query<Row extends object>(text: string, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
    return this.use(signal, async (client) => (await client.query<Row>(text, [...values])).rows);
  }

  /**
   * Runs statements on the connection, after those that came before, and destroys it when `signal` aborts meanwhile or
   * when it turns out to be broken.
   */
  async use<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    this.#last = before.then(() => done);
    try {
      // Whoever gives up while others are at work has no claim on the connection: their own deadlines bound them.
      await untilAborted(signal, before);
      signal.throwIfAborted();
      return await this.#useNow(signal, work);
    } finally {
      finish();
    }
  }

  async #useNow<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await untilAborted(signal, this.#connected().then(work));
    } catch (error) {
      if (signal.aborted || isConnectionBroken(error)) this.#destroy();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = null;
    this.#listens = false;
    if (client === null) this.#destroy();
    else await endOrDestroy(client);
  }

  #connected(): Promise<Client> {
    if (this.#closed)
      return Promise.reject(new LeaseholdError('LEASEHOLD_STORE_CLOSED', 'the PostgreSQL store is closed; create a new one.'));
    if (this.#client !== null) return Promise.resolve(this.#client);
    return this.#connect();
  }

  async #connect(): Promise<Client> {
    const client = new Client(this.#options.config);
    this.#pending = client;
    // From the first moment: an 'error' without a listener ends the process.
    client.on('error', (error) => this.#drop(client, error));
    client.on('end', () => this.#drop(client, new Error('PostgreSQL closed the connection')));
    client.on('notification', ({ payload }) => this.#options.onNotification(payload ?? ''));
    try {
      await client.connect();
      await this.#setUp(client);
      if (this.#pending !== client) throw new Error('the connection was given up while it was being made');
      this.#client = client;
      return client;
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    } finally {
      if (this.#pending === client) this.#pending = null;
    }
  }

  /**
   * Listens, and sets the server's own time limit, if this is a session of our own. A pooler shows itself by another
   * process id than the one it gave at the start; behind it session state would leak to others, and LISTEN would do nothing.
   */
  async #setUp(client: Client): Promise<void> {
    const { rows } = await client.query<{ pid: string }>('select pg_backend_pid() as pid');
    const direct = Number(rows[0]?.pid) === (client as Client & { readonly processID: number | null }).processID;
    if (direct) {
      const { channel, statementTimeoutMs } = this.#options;
      const settings = { ...SETTINGS, statement_timeout: String(Math.ceil(statementTimeoutMs)) };
      const set = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
      await client.query([...set, `listen ${client.escapeIdentifier(channel)}`].join('; '));
    }
    this.#listens = direct;
  }

  #drop(client: Client, error: Error): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#listens = false;
    this.#options.onDrop(error);
  }

  #destroy(): void {
    const clients = [this.#client, this.#pending];
    this.#client = null;
    this.#pending = null;
    this.#listens = false;
    for (const client of clients) client?.connection.stream.destroy();
  }
}

/** The result of `promise`, or the reason of `signal` as soon as that aborts. */
async function untilAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const GOODBYE_MS = 500;

/** Says goodbye; a server that does not take it is left. */
async function endOrDestroy(client: Client): Promise<void> {
  const ended = new AbortController();
  const goodbye = client.end().then(
    () => ended.abort(),
    () => ended.abort(),
  );
  await Promise.race([goodbye, delay(systemClock, GOODBYE_MS, ended.signal)]);
  client.connection.stream.destroy();
}
