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
