import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { SWITCH } from '../../support/http/upgrades.ts';
import type { Setting } from '../host.ts';

/** The origin, once it listens. */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return originOf(server);
}

export function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => server.close((error) => (error === undefined ? resolve() : reject(error))));
}

/** What stands in front of the proxy, as middleware. */
export function middlewareOf({ before, localFields }: Pick<Setting, 'before' | 'localFields'>) {
  const after = async (done: Promise<void>, next: () => void): Promise<void> => {
    await done;
    next();
  };
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    for (const [name, value] of Object.entries(localFields)) response.setHeader(name, value);
    const done = before?.(request, response);
    if (done === undefined) next();
    else void after(done, next);
  };
}

/** WebSocket routes of the application's own, for whatever the proxy leaves to it. */
export function answerUpgrades() {
  return (_request: IncomingMessage, socket: Duplex): void => {
    socket.on('error', () => {});
    socket.resume().on('end', () => socket.end());
    socket.write(SWITCH);
  };
}
