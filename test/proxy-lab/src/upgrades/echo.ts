import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Random, randomInteger, seededRandom } from '../../../lab/src/random.ts';
import { answerBody } from '../bytes.ts';
import { MessageOrder } from '../checker/message-order.ts';
import type { Entry } from '../client/send.ts';
import { GREETING } from './greeting.ts';

const CONNECTIONS = 4;
/** Sent and not echoed yet, for each connection. */
const UNDER_WAY = 50;
const DEADLINE_MS = 60_000;

export interface Echoed {
  /** Greetings included. */
  readonly sent: number;
  readonly echoed: number;
  readonly wrong: number;
  /** Connections whose closing handshake reached both ends. */
  readonly closedInOrder: number;
  readonly connections: number;
}

/** Sends messages of all sizes, text and binary, and compares what comes back. */
export async function echo(entry: Entry, { count, seed }: { readonly count: number; readonly seed: number }): Promise<Echoed> {
  const each = Math.ceil(count / CONNECTIONS);
  const results = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, index) => echoOn(entry, { count: each, random: seededRandom(seed + index) })),
  );
  const sum = (of: (result: EchoedOnOne) => number): number => results.reduce((total, result) => total + of(result), 0);
  return {
    sent: (each + 1) * CONNECTIONS,
    echoed: sum(({ order }) => order.inOrder),
    wrong: sum(({ order }) => order.wrong),
    closedInOrder: sum(({ code }) => (code === 1_000 ? 1 : 0)),
    connections: CONNECTIONS,
  };
}

interface EchoedOnOne {
  readonly order: MessageOrder;
  /** Of the closing handshake. */
  readonly code: number;
}

async function echoOn(
  { port }: Entry,
  { count, random }: { readonly count: number; readonly random: Random },
): Promise<EchoedOnOne> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/held/echo`);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const order = new MessageOrder();
  order.sent(GREETING);
  socket.on('message', (data: Buffer, isBinary) => order.received(isBinary ? data : data.toString()));
  // Reported by the closing code, or by none.
  socket.on('error', () => {});
  const closed = once(socket, 'close', { signal }) as Promise<[number]>;
  try {
    await Promise.race([once(socket, 'open', { signal }), closed]);
    for (let number = 0; number < count && socket.readyState === WebSocket.OPEN; number += UNDER_WAY) {
      for (let index = number; index < Math.min(number + UNDER_WAY, count); index += 1) {
        const message = makeMessage(index, random);
        order.sent(message);
        socket.send(message);
      }
      await Promise.race([allOf(order, socket, signal), closed]);
    }
    socket.close(1_000);
    const [code] = await closed;
    return { order, code };
  } catch {
    return { order, code: 0 };
  } finally {
    socket.terminate();
  }
}

/** Resolves when nothing is on its way any more. */
async function allOf(order: MessageOrder, socket: WebSocket, signal: AbortSignal): Promise<void> {
  while (order.waiting > 0) await once(socket, 'message', { signal });
}

/** Of each length of frame that there is: none, one byte, two bytes, eight bytes. */
function makeMessage(number: number, random: Random): string | Buffer {
  const size = [0, 100, 5_000, 70_000][number % 40 === 0 ? 3 : randomInteger(random, 3)] as number;
  const bytes = answerBody(`w${number}`, size);
  return random() < 0.5 ? bytes : bytes.toString('latin1');
}
