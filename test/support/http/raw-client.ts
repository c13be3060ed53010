import net, { type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const DEADLINE_MS = 5_000;

export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  /** Field lines as they came, latin-1. */
  readonly lines: readonly string[];
  /** Last value of each name, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
  readonly trailers: readonly string[];
}

/** A client that sends and sees bytes, so that a test can tell what framing really was on the wire. */
export class RawClient {
  readonly socket: Socket;
  closed = false;
  error: Error | null = null;
  #buffer: Buffer = Buffer.alloc(0);
  #wake: () => void = () => {};

  static async connect(port: number): Promise<RawClient> {
    const socket = net.connect({ port, host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawClient(socket);
  }

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      this.#wake();
    });
    socket.on('error', (error) => (this.error = error));
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
    socket.on('end', () => {
      this.closed = true;
      this.#wake();
    });
    onTestFinished(() => void socket.destroy());
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  /** What came and was not read as a response yet. */
  get pending(): string {
    return this.#buffer.toString('latin1');
  }

  /** Waits until `done` answers with something, or the deadline. */
  async until<T>(what: string, done: (bytes: Buffer) => T | undefined): Promise<T> {
    const timeout = Date.now() + DEADLINE_MS;
    for (;;) {
      const value = done(this.#buffer);
      if (value !== undefined) return value;
      if (this.closed) throw new Error(`The connection closed before ${what}; got ${JSON.stringify(this.pending.slice(-300))}`);
      await this.#more(timeout, what);
    }
  }

  untilText(text: string): Promise<true> {
    return this.until(`"${text}" came`, (bytes) => (bytes.includes(Buffer.from(text, 'latin1')) ? true : undefined));
  }

  async untilClosed(): Promise<void> {
    const timeout = Date.now() + DEADLINE_MS;
    while (!this.closed) await this.#more(timeout, 'the connection closed');
  }

  #more(timeout: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Deadline before ${what}; got ${JSON.stringify(this.pending.slice(-300))}`)),
        timeout - Date.now(),
      );
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reads one response, interim ones included; what follows stays for the next call. */
  async response({ head = false }: { head?: boolean } = {}): Promise<RawResponse> {
    const end = await this.until('a response head', (bytes) => {
      const index = bytes.indexOf('\r\n\r\n');
      return index === -1 ? undefined : index + 4;
    });
    const [statusLine = '', ...lines] = this.#take(end).toString('latin1').trimEnd().split('\r\n');
    const status = Number(statusLine.split(' ')[1]);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    const bodyless = head || status < 200 || status === 204 || status === 304;
    const { body, trailers } = bodyless ? { body: Buffer.alloc(0), trailers: [] } : await this.#body(headers);
    const statusText = statusLine.split(' ').slice(2).join(' ');
    return { status, statusText, lines, headers, body, text: body.toString('latin1'), trailers };
  }

  async #body(headers: Record<string, string>): Promise<{ body: Buffer; trailers: string[] }> {
    if (headers['transfer-encoding'] === 'chunked') return this.#chunks();
    const length = headers['content-length'];
    if (length === undefined) {
      await this.untilClosed();
      return { body: this.#take(this.#buffer.length), trailers: [] };
    }
    await this.until('the whole body', (bytes) => (bytes.length >= Number(length) ? true : undefined));
    return { body: this.#take(Number(length)), trailers: [] };
  }

  async #chunks(): Promise<{ body: Buffer; trailers: string[] }> {
    const parts: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt(await this.#line(), 16);
      if (size === 0) break;
      await this.until('a whole chunk', (bytes) => (bytes.length >= size + 2 ? true : undefined));
      parts.push(this.#take(size));
      this.#take(2);
    }
    const trailers: string[] = [];
    for (let line = await this.#line(); line !== ''; line = await this.#line()) trailers.push(line);
    return { body: Buffer.concat(parts), trailers };
  }

  async #line(): Promise<string> {
    const end = await this.until('a line', (bytes) => {
      const index = bytes.indexOf('\r\n');
      return index === -1 ? undefined : index;
    });
    const line = this.#take(end).toString('latin1');
    this.#take(2);
    return line;
  }

  #take(length: number): Buffer {
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }
}
