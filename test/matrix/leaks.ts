import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Server, Socket } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';

/** Before the idle limits of agents (4 s) and servers (5 s) end what nobody has ended. */
/** Those of Node's own on a connection that an agent keeps; TLS has one more. */
const USUAL_LISTENERS = 3;

const SOON = { timeout: 3_000, interval: 5 };

interface Watched {
  readonly server: Server;
  /** Open connections of its clients. */
  readonly sockets: ReadonlySet<Socket>;
  /** As they were before the first request. */
  readonly listeners: Readonly<Record<string, number>>;
  readonly close: () => Promise<void>;
}

/** What one test opens, in this process, so that nothing of it may be left when it is over. */
export class LeakWatch {
  readonly #outgoing = new Set<Socket>();
  readonly #warnings: Error[] = [];
  readonly #before = openHandles();
  readonly #applications: Watched[] = [];

  /** Of the test that is about to run. */
  constructor() {
    const onSocket = (message: unknown): void => void this.#outgoing.add((message as { socket: Socket }).socket);
    const onWarning = (warning: Error): void => void this.#warnings.push(warning);
    subscribe('net.client.socket', onSocket);
    process.on('warning', onWarning);
    // The first that is registered is the last to run.
    onTestFinished(async () => {
      unsubscribe('net.client.socket', onSocket);
      process.off('warning', onWarning);
      await vi.waitFor(() => expect(openHandles()).toEqual(this.#before), SOON);
      expect(this.#warnings).toEqual([]);
    });
  }

  /** Closes the applications of a test when it is over and its clients are gone, and looks for what stayed. */
  add(application: Watched): void {
    this.#applications.push(application);
    if (this.#applications.length > 1) return;
    // What the test has opened before is its own: holders, and what fills their queues.
    this.#outgoing.clear();
    onTestFinished(() => this.#close());
  }

  async #close(): Promise<void> {
    const applications = this.#applications;
    try {
      await this.#look();
    } finally {
      await Promise.all(applications.map(({ close }) => close()));
    }
    const left = (): [number, number] => [this.#connections(), this.#open()];
    await vi.waitFor(() => expect(left(), 'connections in and out').toEqual([0, 0]), SOON);
  }

  /** While the applications still run. */
  async #look(): Promise<void> {
    const applications = this.#applications;
    // Those of one test call each other, and keep connections for it.
    if (applications.length === 1) await vi.waitFor(() => expect(this.#connections(), 'of clients that left').toBe(0), SOON);
    await vi.waitFor(() => expect(this.#inUse(), 'requests of clients that left').toEqual([]), SOON);
    expect(this.#mostListeners(), 'listeners of one event on a kept connection').toBeLessThanOrEqual(USUAL_LISTENERS);
    // One that was closed by its test has none of its own left to compare.
    for (const { server, listeners } of applications) if (server.listening) expect(listenersOf(server)).toEqual(listeners);
  }

  #connections(): number {
    return this.#applications.reduce((sum, { sockets }) => sum + sockets.size, 0);
  }

  #open(): number {
    return [...this.#outgoing].filter((socket) => !socket.destroyed).length;
  }

  /** Whatever a request adds to its connection goes with it; the next one adds its own. */
  #mostListeners(): number {
    const kept = [...this.#outgoing].filter((socket) => !socket.destroyed);
    return Math.max(0, ...kept.flatMap((socket) => socket.eventNames().map((name) => socket.listenerCount(name))));
  }

  /** Requests that are on a connection now; one that is kept carries none that is not over. */
  #inUse(): string[] {
    const carrying = [...this.#outgoing].filter((socket) => !socket.destroyed) as (Socket & { _httpMessage?: ClientRequest })[];
    return carrying.flatMap(({ _httpMessage }) =>
      _httpMessage?.closed === false ? [`${_httpMessage.method} ${_httpMessage.path}`] : [],
    );
  }
}

/** Connections and listening servers of this process. */
function openHandles(): Record<string, number> {
  const kinds = process.getActiveResourcesInfo();
  const count = (kind: string): number => kinds.filter((name) => name === kind).length;
  return { sockets: count('TCPSocketWrap'), servers: count('TCPServerWrap') };
}

export function listenersOf(server: Server): Record<string, number> {
  return Object.fromEntries(server.eventNames().map((name) => [String(name), server.listenerCount(name)]));
}
