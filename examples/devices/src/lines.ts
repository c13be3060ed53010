import type { Socket } from 'node:net';

/** What an owner says to a device. The first line says for whom it connects; each later one is a command. */
export interface Hello {
  readonly device: string;
  /** Label of the process. */
  readonly by: string;
  readonly token: number;
}
export interface Command {
  readonly command: string;
}

/** What a device answers: to the first line, then to each command. */
export type FromDevice = { readonly accepted: boolean } | { readonly executed: string };

/** One JSON value a line. */
export function say(socket: Socket, message: Hello | Command | FromDevice): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

export function onLine(socket: Socket, hear: (message: unknown) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(JSON.parse(line));
  });
}
