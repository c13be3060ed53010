import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ForwardOutcome } from './diagnostics.ts';
import { buildInterimHead } from './headers/interim-head.ts';
import { closeGently, type UpgradingClient } from './upgrade.ts';

/** A peer that vanished without a word is found by this: nothing else of a silent tunnel would tell. */
const KEEP_ALIVE_MS = 30_000;

/** The holder's side of a connection that speaks another protocol. */
export interface HolderEnd {
  readonly socket: Socket;
  /** What came with the head of the answer. */
  readonly head: Buffer;
}

/** The bytes of an upgraded connection in both directions, at the pace of the slower end. */
export class Tunnel {
  readonly #upgrade: UpgradingClient;
  readonly #client: Duplex;
  readonly #holder: Socket;
  readonly #head: Buffer;
  readonly #over: (outcome: ForwardOutcome, error?: unknown) => void;
  #error: unknown;
  #stopped = false;

  constructor(upgrade: UpgradingClient, holder: HolderEnd, over: (outcome: ForwardOutcome, error?: unknown) => void) {
    this.#upgrade = upgrade;
    this.#client = upgrade.socket;
    this.#holder = holder.socket;
    this.#head = holder.head;
    this.#over = over;
  }

  /** @param own a field that this instance sets on the answer. */
  begin(answer: IncomingMessage, own: readonly string[]): void {
    const early = this.#upgrade.switchProtocol();
    prepare(this.#holder);
    prepare(this.#client);
    this.#holder.on('error', (error) => (this.#error = error));
    this.#holder.once('close', this.#onHolderClose);
    this.#client.once('close', this.#onClientClose);
    this.#client.write(Buffer.concat([switchingHead(answer, own), this.#head]));
    if (early.length > 0) this.#holder.write(early);
    this.#client.pipe(this.#holder);
    this.#holder.pipe(this.#client);
    if (this.#client.destroyed) this.#onClientClose();
  }

  /** Breaks both connections off, unless the client still has the holder's last bytes to read. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#holder.destroy();
    this.#client.destroy();
  }

  readonly #onClientClose = (): void => {
    if (this.#stopped) return;
    this.#over(this.#client.readableEnded && this.#holder.readableEnded ? 'completed' : 'client-left');
  };

  /** A holder that has said its end is heard to the end; one that broke is a break for the client too. */
  readonly #onHolderClose = (): void => {
    if (this.#stopped) return;
    if (!this.#holder.readableEnded) {
      this.#over('truncated', this.#error ?? new Error('The holder closed the upgraded connection.'));
      return;
    }
    this.#stopped = true;
    this.#client.unpipe(this.#holder);
    closeGently(this.#client);
    this.#over('completed');
  };
}

function prepare(socket: Duplex & Partial<Pick<Socket, 'setTimeout' | 'setNoDelay' | 'setKeepAlive'>>): void {
  socket.setTimeout?.(0);
  socket.setNoDelay?.(true);
  socket.setKeepAlive?.(true, KEEP_ALIVE_MS);
}

function switchingHead(
  { statusCode = 101, statusMessage = '', rawHeaders, headers }: IncomingMessage,
  own: readonly string[],
): Buffer {
  const fields = [...own, 'Connection', 'Upgrade', 'Upgrade', headers.upgrade ?? ''];
  return Buffer.from(buildInterimHead({ statusCode, statusMessage, rawHeaders }, fields), 'latin1');
}
