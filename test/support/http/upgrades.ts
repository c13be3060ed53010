import type { Socket } from 'node:net';
import { type RawHolder, rawHolder } from './servers.ts';

export const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: yes\r\n\r\n';

interface UpgradeParts {
  readonly method?: string;
  readonly protocol?: string;
  readonly connection?: string;
}

export function upgrade(
  path: string,
  { method = 'GET', protocol = 'websocket', connection = 'Upgrade' }: UpgradeParts = {},
): string {
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
}

/** A holder that switches protocols, and then does what it is told with the connection. */
export function switching(then: (socket: Socket) => void): Promise<RawHolder> {
  return rawHolder((socket) => {
    socket.write(SWITCH);
    then(socket);
  });
}

export function echo(socket: Socket): void {
  socket.on('data', (chunk) => socket.write(Buffer.concat([Buffer.from('echo:'), chunk])));
}
