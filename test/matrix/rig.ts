import type { ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PartitionHolderProxyOptions, RoleHolderProxyOptions, RoleLeaseView } from '@leasehold/proxy';
import { type FakeLeasehold, fakeLeasehold, heldBy } from '../support/http/fake-leasehold.ts';
import { type FakePartition, fakePartition } from '../support/http/fake-partition.ts';
import { RawClient } from '../support/http/raw-client.ts';
import { countConnections, type TestServer } from '../support/http/servers.ts';
import type { Before, Host, Setting } from './host.ts';
import { type LeakWatch, listenersOf } from './leaks.ts';

export interface Rig {
  /** The instance that clients talk to; it does not hold the role. */
  readonly front: Omit<TestServer, 'close'>;
  readonly leasehold: FakeLeasehold;
  /** What reached the application of the front instance. */
  readonly local: string[];
  connect(): Promise<RawClient>;
  /** Closes the application, as a user of its host does. */
  close(): Promise<void>;
}

export interface RigOptions extends Partial<RoleHolderProxyOptions> {
  /** Id of the front instance. */
  readonly id?: string;
  readonly server?: ServerOptions;
  /** What the front instance sees of the role, beside the holder. */
  readonly lease?: Partial<RoleLeaseView>;
  readonly before?: Before;
  readonly localFields?: Setting['localFields'];
}

interface PartitionRig extends Omit<Rig, 'leasehold'> {
  readonly leasehold: FakePartition;
}

/** Starts the application of a host, whose role `maintenance` (prefixes `/m` and `/streams`) is held at `holderOrigin`. */
export type StartRig = (holderOrigin: string | null, options?: RigOptions) => Promise<Rig>;

/** The same with the partition `devices` (prefix `/d`), whose key is the field `X-Device-Id`. */
export type StartPartitionRig = (options?: Partial<PartitionHolderProxyOptions>) => Promise<PartitionRig>;

export function rigOn(host: Host, watch: () => LeakWatch): StartRig {
  return async (holderOrigin, { id, server = {}, lease, before = null, localFields = {}, ...options } = {}) => {
    const leasehold = fakeLeasehold({ ...heldBy(holderOrigin), ...lease }, id);
    const role = { role: 'maintenance', prefixes: ['/m', '/streams'], ...options };
    const setting = { leasehold: withLifeCycle(leasehold), proxy: { role }, server, before, localFields };
    return { leasehold, ...(await start(host, setting, watch())) };
  };
}

export function partitionRigOn(host: Host, watch: () => LeakWatch): StartPartitionRig {
  return async (options = {}) => {
    const leasehold = fakePartition();
    const affinityKey: PartitionHolderProxyOptions['affinityKey'] = (request) => request.headers['x-device-id'];
    const partition = { partition: 'devices', prefixes: ['/d'], affinityKey, ...options };
    const setting = { leasehold: withLifeCycle(leasehold), proxy: { partition }, server: {}, before: null, localFields: {} };
    return { leasehold, ...(await start(host, setting, watch())) };
  };
}

async function start(host: Host, setting: Omit<Setting, 'executed'>, watch: LeakWatch): Promise<Omit<Rig, 'leasehold'>> {
  const local: string[] = [];
  const application = await host.start({ ...setting, executed: ({ method, url }) => void local.push(`${method} ${url}`) });
  const { server } = application;
  const { port } = server.address() as AddressInfo;
  const counted = countConnections(server);
  const listeners = listenersOf(server);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= application.close());
  watch.add({ server, listeners, sockets: counted.sockets, close });
  const front = { server, port, origin: `http://127.0.0.1:${port}`, ...counted };
  return { front, local, close, connect: () => RawClient.connect(port) };
}

/** With what else of a Leasehold an adapter calls. */
function withLifeCycle(leasehold: FakeLeasehold | FakePartition): Setting['leasehold'] {
  const lifeCycle = {
    start: async () => {},
    stop: async () => {},
    advertise: (address: string) => void (leasehold.instance.address = address),
  };
  return Object.assign(leasehold, lifeCycle) as unknown as Setting['leasehold'];
}
