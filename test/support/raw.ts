import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Sends the lines, and reads until the other side ends or breaks the connection. */
export function rawExchange(origin: string, lines: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connectTo(origin, lines);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('end', () => resolve(received)).on('error', reject);
  return promise;
}

export const upgradeLines = (path: string): string[] => [
  `GET ${path} HTTP/1.1`,
  'Host: app.test',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

export interface OpenUpgrade {
  /** The first bytes that came back. */
  readonly text: string;
  readonly closed: Promise<unknown>;
}

/** Asks for an upgrade, and leaves the connection open. */
export async function openUpgrade(origin: string, path: string, fields: readonly string[] = []): Promise<OpenUpgrade> {
  const socket = connectTo(origin, [...upgradeLines(path), ...fields]).on('error', () => {});
  const closed = once(socket, 'close');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return { text: chunk.toString('latin1'), closed };
}

function connectTo(origin: string, lines: readonly string[]): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname, () => socket.write([...lines, '', ''].join('\r\n')));
  onTestFinished(() => void socket.destroy());
  return socket;
}

export interface OpenStream {
  readonly status: number;
  readonly text: () => string;
  /** How it ended: `complete`, or `broken` when it was cut off. */
  readonly ended: Promise<'complete' | 'broken'>;
}

/** Opens an event stream, as a browser's `EventSource` does, or another client that asks for something else. */
export function openStream(url: string, accept = 'text/event-stream'): Promise<OpenStream> {
  const { promise, resolve, reject } = Promise.withResolvers<OpenStream>();
  const outgoing = request(url, { headers: { accept }, agent: false }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    answer.on('error', () => {});
    const ended = new Promise<'complete' | 'broken'>((settle) => {
      answer.on('close', () => settle(answer.complete ? 'complete' : 'broken'));
    });
    resolve({ status: answer.statusCode ?? 0, text: () => text, ended });
  });
  outgoing.on('error', reject).end();
  onTestFinished(() => void outgoing.destroy());
  return promise;
}
