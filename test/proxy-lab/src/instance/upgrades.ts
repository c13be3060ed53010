import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { GREETING } from '../upgrades/greeting.ts';
import { refusals } from '../upgrades/refusals.ts';

/** What the holder does with an upgrade: an echo at `/held/echo`, and a refusal of the given number anywhere else. */
export function upgrades(): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({ noServer: true });
  server.on('connection', (webSocket) => {
    // At once: it may come in one packet with the head of the answer.
    webSocket.send(GREETING);
    webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
    webSocket.on('error', () => {});
  });
  return (request, socket, head) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lab');
    if (pathname === '/held/echo') {
      server.handleUpgrade(request, socket, head, (webSocket) => server.emit('connection', webSocket, request));
      return;
    }
    const refusal = refusals[Number(searchParams.get('as'))];
    socket.on('error', () => {});
    socket.resume();
    // Nobody closes for an application that forgot to; the other side does.
    socket.on('end', () => socket.end());
    if (refusal?.closes === false) socket.write(refusal.bytes);
    else socket.end(refusal?.bytes);
  };
}
