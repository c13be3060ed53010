import type { RoleHolderProxy, ThisInstance } from '@leasehold/proxy';

const known = new WeakMap<ThisInstance, Set<RoleHolderProxy>>();

/** Remembered so that the lifecycle of the server finds every proxy: one that was forgotten would answer no upgrade and keep forwarding. */
export function rememberProxy(leasehold: ThisInstance, proxy: RoleHolderProxy): void {
  const proxies = known.get(leasehold);
  if (proxies === undefined) known.set(leasehold, new Set([proxy]));
  else proxies.add(proxy);
}

/** Those that exist now; ask again later, since an application may mount more. */
export function proxiesOf(leasehold: ThisInstance): Iterable<RoleHolderProxy> {
  return known.get(leasehold) ?? [];
}

const lifecycles = new WeakMap<ThisInstance, number>();

/** An application may listen on more than one server: the proxies belong to all of them. */
export function joinServer(leasehold: ThisInstance): void {
  lifecycles.set(leasehold, (lifecycles.get(leasehold) ?? 0) + 1);
}

/** The proxies that go with a server that closes: all, with the last one. */
export function leaveServer(leasehold: ThisInstance): Iterable<RoleHolderProxy> {
  const left = (lifecycles.get(leasehold) ?? 1) - 1;
  lifecycles.set(leasehold, left);
  return left === 0 ? proxiesOf(leasehold) : [];
}
