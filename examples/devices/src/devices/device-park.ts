import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { type Command, type Hello, onLine, say } from '../lines.ts';
import { Device, DeviceRecords, type Owner } from './device.ts';

/** All simulated devices, behind one TCP port. The processes of the application connect to each of those that they own. */
export class DevicePark {
  readonly records = new DeviceRecords();
  readonly #devices: ReadonlyMap<string, Device>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(ids: readonly string[]) {
    this.#devices = new Map(ids.map((id) => [id, new Device(id, this.records, () => performance.now())]));
    this.#server = createServer({ noDelay: true }, (socket) => this.#welcome(socket));
  }

  get ids(): string[] {
    return [...this.#devices.keys()];
  }

  /** How many devices the process has, or all of them together. */
  connected(by?: string): number {
    return [...this.#devices.values()].filter(({ owner }) => owner !== null && (by ?? owner.by) === owner.by).length;
  }

  /** Answers with its port. */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', 1_024, resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #welcome(socket: Socket): void {
    let device: Device | undefined;
    let owner: Owner | null = null;
    this.#sockets.add(socket);
    const leave = (): void => {
      if (owner !== null) device?.leave(owner);
    };
    onLine(socket, (message) => {
      if (owner === null) {
        const hello = message as Hello;
        device = this.#devices.get(hello.device);
        owner = { by: hello.by, token: hello.token };
        const accepted = device?.accept(owner) ?? false;
        say(socket, { accepted });
        if (!accepted) socket.end();
      } else {
        const { command } = message as Command;
        if (device?.execute(owner) === true) say(socket, { executed: command });
      }
    });
    // Before the other side hears that the connection is closed.
    socket.on('end', leave);
    socket.on('close', () => {
      leave();
      this.#sockets.delete(socket);
    });
    socket.on('error', () => {});
  }
}
