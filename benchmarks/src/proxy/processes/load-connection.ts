import { connect, type Socket } from 'node:net';

export interface LoadExchange {
  /** A whole request, as it goes over the wire. */
  readonly request: Buffer;
  readonly answerLength: number;
}

const HEAD_END = '\r\n\r\n';

/** Where a connection gets its work, and where it says what became of it. */
export interface LoadWork {
  /** What to send next; null when all has been sent. */
  next(): LoadExchange | null;
  /** @param failure what came in place of the right answer; null for that one. */
  answered(failure: string | null): void;
}

/**
 * One connection of the load: the next request goes out as soon as the answer is in. It knows what comes, and looks at
 * status and length alone: what the load costs is missing where it runs, and a parser costs more than all of this.
 */
export class LoadConnection {
  readonly #port: number;
  readonly #work: LoadWork;
  /** What an answer is due for. */
  #due: LoadExchange | null = null;
  #socket: Socket | null = null;
  #head = '';
  /** Bytes of the body that are still to come; null until the head is in. */
  #missing: number | null = null;
  #closes = false;

  constructor(port: number, work: LoadWork) {
    this.#port = port;
    this.#work = work;
  }

  /** Until there is no more work. The connection stays open after that, as a client's does. */
  run(): void {
    this.#due = this.#work.next();
    if (this.#due === null) return;
    this.#head = '';
    this.#missing = null;
    this.#socket ??= this.#open();
    this.#socket.write(this.#due.request);
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true });
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.#closed(socket));
    return socket;
  }

  #take(chunk: Buffer): void {
    if (this.#due === null) this.#drop();
    else if (this.#missing === null) this.#takeHead(chunk, this.#due);
    else this.#takeBody(chunk.length);
  }

  #takeHead(chunk: Buffer, { answerLength }: LoadExchange): void {
    this.#head += chunk.toString('latin1');
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1) return;
    const head = this.#head.slice(0, end);
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    if (!head.startsWith('HTTP/1.1 200 ') || Number(length) !== answerLength) {
      this.#answered(`${head.split('\r\n', 1)[0]}, length ${length}`);
      return;
    }
    this.#closes = /\r\nconnection: close/i.test(head);
    this.#missing = answerLength;
    this.#takeBody(this.#head.length - end - HEAD_END.length);
  }

  #takeBody(length: number): void {
    this.#missing = (this.#missing ?? 0) - length;
    if (this.#missing <= 0) this.#answered(this.#missing === 0 ? null : 'more than the length');
  }

  #answered(failure: string | null): void {
    if (failure !== null || this.#closes) this.#drop();
    this.#work.answered(failure);
    this.run();
  }

  #drop(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#closes = false;
  }

  /** A connection may be closed while it is idle; the next request then opens another. */
  #closed(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    if (this.#due !== null) this.#answered('the connection was closed');
  }
}
