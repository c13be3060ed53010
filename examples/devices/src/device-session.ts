import { connect, type Socket } from 'node:net';
import { type FromDevice, type Hello, onLine, say } from './lines.ts';

/** Where the devices are reached, all at one place. */
export interface Gateway {
  readonly host: string;
  readonly port: number;
}

const PATIENCE_MS = 1_000;

/** The open connection to one device. */
export class DeviceSession {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #unanswered = new Map<string, (executed: boolean) => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    // Not `once()`, which rejects when the connection broke.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    // Not by `once()` of node:events, which rejects when the connection broke.
    socket.once('close', () => {
      for (const answer of this.#unanswered.values()) answer(false);
      resolve();
    });
  }

  /** @throws {Error} when the device cannot be reached, or has seen a higher fencing token. */
  static async open(gateway: Gateway, hello: Hello): Promise<DeviceSession> {
    const socket = connect({ ...gateway, noDelay: true });
    // Without a listener a connection that breaks would end the process; that it closes is told as well.
    socket.on('error', () => {});
    const session = new DeviceSession(socket);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    onLine(socket, (message) => session.#hear(message as FromDevice, resolve));
    say(socket, hello);
    const accepted = await Promise.race([promise, session.closed.then(() => false)]);
    if (!accepted) throw new Error(`${hello.device} let nobody in with token ${hello.token}`);
    return session;
  }

  #hear(message: FromDevice, accept: (accepted: boolean) => void): void {
    if ('accepted' in message) return accept(message.accepted);
    this.#unanswered.get(message.executed)?.(true);
    this.#unanswered.delete(message.executed);
  }

  /** Whether the device has told that it executed the command. */
  send(command: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (this.#socket.closed) resolve(false);
    this.#unanswered.set(command, resolve);
    say(this.#socket, { command });
    return promise;
  }

  /** Resolves when the device has let go too: from then on another process may connect. */
  async close(): Promise<void> {
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), PATIENCE_MS);
    await this.closed;
    clearTimeout(timer);
  }
}
