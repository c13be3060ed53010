import pg from 'pg';
import type { ClockSample } from '../checker/history.ts';
import { nowUs } from '../monotonic.ts';

const EVERY_MS = 500;
/** A sample that took longer says little. */
const WIDEST_US = 20_000;

/** Compares the database's clock with the machine's again and again, for as long as the run lasts. */
export class ClockSampler {
  readonly #url: string;
  readonly #samples: ClockSample[] = [];
  readonly #timer: NodeJS.Timeout;
  #client: pg.Client | null = null;
  #busy = false;

  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => void this.#sample(), EVERY_MS);
  }

  async stop(): Promise<readonly ClockSample[]> {
    clearInterval(this.#timer);
    this.#client?.connection.stream.destroy();
    return this.#samples;
  }

  async #sample(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      this.#client ??= await this.#connect();
      await this.#ask(this.#client);
    } catch {
      this.#client?.connection.stream.destroy();
      this.#client = null;
    } finally {
      this.#busy = false;
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'lab-clock',
      connectionTimeoutMillis: EVERY_MS,
      query_timeout: EVERY_MS,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async #ask(client: pg.Client): Promise<void> {
    const from = nowUs();
    const { rows } = await client.query<{ us: string }>(
      'select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as us',
    );
    const to = nowUs();
    if (to - from <= WIDEST_US) this.#samples.push({ from, to, database: Number(rows[0]?.us) });
  }
}
