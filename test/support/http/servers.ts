import http, { type RequestListener } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TestServer<T extends net.Server = http.Server> {
  readonly server: T;
  readonly port: number;
  readonly origin: string;
  /** Connections accepted so far. */
  readonly accepted: { count: number };
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Counts the connections of a server, from here on. */
export function countConnections(server: net.Server): Pick<TestServer, 'accepted' | 'sockets'> {
  const sockets = new Set<Socket>();
  const accepted = { count: 0 };
  server.on('connection', (socket: Socket) => {
    accepted.count++;
    sockets.add(socket);
    // An HTTP server has a listener of its own, and what takes a socket away from it has to bring one.
    if (!(server instanceof http.Server)) socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  return { accepted, sockets };
}

/** Listens on a free port of 127.0.0.1 until the test is over. */
export async function listen<T extends net.Server>(server: T, scheme = 'http'): Promise<TestServer<T>> {
  const { accepted, sockets } = countConnections(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(close);
  return { server, port, origin: `${scheme}://127.0.0.1:${port}`, accepted, sockets, close };
}

export function httpServer(listener: RequestListener, options: http.ServerOptions = {}): Promise<TestServer> {
  return listen(http.createServer(options, listener));
}

export interface RawHolder extends TestServer<net.Server> {
  /** All bytes received, as latin-1 text, in the order of arrival. */
  received(): string;
}

/** A holder that speaks bytes: `onHead` is called once for each connection, when the first request head is complete. */
export async function rawHolder(onHead: (socket: Socket, head: string) => void): Promise<RawHolder> {
  let received = '';
  const server = net.createServer((socket) => {
    let bytes = '';
    let seen = false;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.toString('latin1');
      received += chunk.toString('latin1');
      if (seen || !bytes.includes('\r\n\r\n')) return;
      seen = true;
      onHead(socket, bytes.slice(0, bytes.indexOf('\r\n\r\n') + 4));
    });
  });
  return { ...(await listen(server)), received: () => received };
}

/** An address of this machine where nobody listens. */
export async function unusedOrigin(): Promise<string> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
