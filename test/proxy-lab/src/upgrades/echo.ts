import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Random, randomInteger, seededRandom } from '../../../lab/src/random.ts';
import { answerBody } from '../bytes.ts';
import { MessageOrder } from '../checker/message-order.ts';
import type { Entry } from '../client/send.ts';

const CONNECTIONS = 4;
/** Sent and not echoed yet, for each connection. */
const UNDER_WAY = 50;
const DEADLINE_MS = 60_000;

export interface Echoed {
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
    sent: each * CONNECTIONS,
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
  try {
    await once(socket, 'open', { signal });
    for (let number = 0; number < count; number += UNDER_WAY) {
      const echoed = echoesOf(socket, order, Math.min(UNDER_WAY, count - number));
      for (let index = number; index < Math.min(number + UNDER_WAY, count); index += 1) {
        const message = makeMessage(index, random);
        order.sent(message);
        socket.send(message);
      }
      await Promise.race([echoed, once(socket, 'close', { signal })]);
    }
    socket.close(1_000);
    const [code] = (await once(socket, 'close', { signal })) as [number];
    return { order, code };
  } catch {
    return { order, code: 0 };
  } finally {
    socket.terminate();
  }
}

/** Resolves when so many messages have come back. */
function echoesOf(socket: WebSocket, order: MessageOrder, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const onMessage = (data: Buffer, isBinary: boolean): void => {
      order.received(isBinary ? data : data.toString());
      left -= 1;
      if (left > 0) return;
      socket.off('message', onMessage);
      resolve();
    };
    socket.on('message', onMessage);
  });
}

/** Of each length of frame that there is: none, one byte, two bytes, eight bytes. */
function makeMessage(number: number, random: Random): string | Buffer {
  const size = [0, 100, 5_000, 70_000][number % 40 === 0 ? 3 : randomInteger(random, 3)] as number;
  const bytes = answerBody(`w${number}`, size);
  return random() < 0.5 ? bytes : bytes.toString('latin1');
}
