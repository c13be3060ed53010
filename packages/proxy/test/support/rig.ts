import type { RequestListener, ServerOptions } from 'node:http';
import { onTestFinished } from 'vitest';
import { createRoleHolderProxy, type RoleHolderProxy, type RoleHolderProxyOptions, type RoleLeaseView } from '../../src/index.ts';
import { type FakeLeasehold, fakeLeasehold, heldBy } from '../../../../test/support/http/fake-leasehold.ts';
import { RawClient } from '../../../../test/support/http/raw-client.ts';
import { httpServer, type TestServer } from '../../../../test/support/http/servers.ts';

export interface Rig {
  /** The instance that clients talk to; it does not hold the role. */
  readonly front: TestServer;
  readonly proxy: RoleHolderProxy;
  readonly leasehold: FakeLeasehold;
  /** What reached the application of the front instance. */
  readonly local: string[];
  connect(): Promise<RawClient>;
}

export interface RigOptions extends Partial<RoleHolderProxyOptions> {
  readonly server?: ServerOptions;
  /** What the front instance sees of the role, beside the holder. */
  readonly lease?: Partial<RoleLeaseView>;
  /** Runs in front of the proxy. */
  readonly before?: RequestListener;
}

/** A front instance whose role `maintenance` (prefixes `/m` and `/streams`) is held at `holderOrigin`. */
export async function rig(holderOrigin: string | null, { server, before, lease, ...options }: RigOptions = {}): Promise<Rig> {
  const leasehold = fakeLeasehold({ ...heldBy(holderOrigin), ...lease });
  const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m', '/streams'], ...options });
  const local: string[] = [];
  const front = await httpServer((request, response) => {
    before?.(request, response);
    proxy.handle(request, response, () => {
      local.push(`${request.method} ${request.url}`);
      response.end('local');
    });
  }, server);
  onTestFinished(() => proxy.close());
  return { front, proxy, leasehold, local, connect: () => RawClient.connect(front.port) };
}
