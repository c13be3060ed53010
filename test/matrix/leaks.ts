import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Server, Socket } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';

/** Before the idle limits of agents (4 s) and servers (5 s) end what nobody has ended. */
const SOON = { timeout: 3_000, interval: 5 };

/** What one test opens, in this process, so that nothing of it may be left when it is over. */
export class LeakWatch {
  readonly #outgoing = new Set<Socket>();
  readonly #warnings: Error[] = [];
  readonly #before = openHandles();
  #applications = 0;

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

  /** Closes an application when the test is over and its clients are gone, and looks for what stayed before and after. */
  add({ server, sockets, close }: { server: Server; sockets: ReadonlySet<Socket>; close: () => Promise<void> }): void {
    this.#applications++;
    const listeners = listenersOf(server);
    onTestFinished(async () => {
      await vi.waitFor(() => expect(sockets.size, 'connections of clients that left').toBe(0), SOON);
      await vi.waitFor(() => expect(this.#inUse(), 'requests of clients that left').toEqual([]), SOON);
      expect(listenersOf(server)).toEqual(listeners);
      await close();
      // The applications of one test call each other.
      if (--this.#applications > 0) return;
      await vi.waitFor(() => expect(this.#open(), 'connections to holders').toBe(0), SOON);
    });
  }

  #open(): number {
    return [...this.#outgoing].filter((socket) => !socket.destroyed).length;
  }

  /** Requests that are on a connection now; one that an agent keeps carries none. */
  #inUse(): string[] {
    const carrying = [...this.#outgoing].filter((socket) => !socket.destroyed) as (Socket & { _httpMessage?: ClientRequest })[];
    return carrying.flatMap(({ _httpMessage }) => (_httpMessage ? [`${_httpMessage.method} ${_httpMessage.path}`] : []));
  }
}

/** Connections and listening servers of this process. */
function openHandles(): Record<string, number> {
  const kinds = process.getActiveResourcesInfo();
  const count = (kind: string): number => kinds.filter((name) => name === kind).length;
  return { sockets: count('TCPSocketWrap'), servers: count('TCPServerWrap') };
}

function listenersOf(server: Server): Record<string, number> {
  return Object.fromEntries(server.eventNames().map((name) => [String(name), server.listenerCount(name)]));
}
