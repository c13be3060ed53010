import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Way of some bytes: a request goes to the server, a reply comes from it. */
export type Way = 'request' | 'reply';

export interface Network {
  readonly target: { readonly host: string; readonly port: number };
  readonly loses: (way: Way) => boolean;
  readonly delayMs: () => number;
  readonly onClose: () => void;
}

/** One client's connection and the one to the server that belongs to it. */
export class ProxiedConnection {
  readonly #client: Socket;
  readonly #network: Network;
  #server: Socket | undefined;
  #damaged = false;

  constructor(client: Socket, network: Network) {
    this.#client = client;
    this.#network = network;
  }

  /** Something was lost, so that both ends no longer agree on what was said. */
  get damaged(): boolean {
    return this.#damaged;
  }

  get clientConnected(): boolean {
    return !this.#client.destroyed;
  }

  open(): void {
    this.#client.setNoDelay(true);
    this.#closesWithBoth(this.#client);
    if (this.#network.loses('request')) this.#openNowhere();
    else this.#openServer();
  }

  /** Ends both at once, with a TCP reset. */
  reset(): void {
    for (const socket of [this.#client, this.#server]) if (socket?.destroyed === false) socket.resetAndDestroy();
  }

  /** The kernel has accepted the client; the server never hears of it. */
  #openNowhere(): void {
    this.#damaged = true;
    this.#client.resume();
  }

  #openServer(): void {
    const server = connect({ ...this.#network.target, noDelay: true });
    this.#server = server;
    this.#closesWithBoth(server);
    this.#forward('request', this.#client, server);
    this.#forward('reply', server, this.#client);
  }

  #closesWithBoth(socket: Socket): void {
    // An error is followed by a close, which is passed on.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#client.destroyed && this.#server?.destroyed !== false) this.#network.onClose();
    });
  }

  /** What was sent stays in order, and the end of the stream comes after it, also when the delay changes. */
  #forward(way: Way, from: Socket, to: Socket): void {
    let last: Promise<void> = Promise.resolve();
    const later = (deliver: () => void): void => {
      const due = performance.now() + this.#network.delayMs();
      last = last.then(() => this.#deliver(way, due, deliver));
    };
    from.on('data', (chunk) => later(() => pass(chunk, from, to)));
    from.on('close', (failed) => later(() => (failed ? to.resetAndDestroy() : to.end())));
  }

  async #deliver(way: Way, due: number, deliver: () => void): Promise<void> {
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    if (this.#network.loses(way)) this.#damaged = true;
    else deliver();
  }
}

function pass(chunk: Buffer, from: Socket, to: Socket): void {
  if (to.destroyed || to.write(chunk) || from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}
