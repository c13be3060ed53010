import { cutOff } from './cut.ts';
import type { ClientSide, ExchangeContext } from './exchange-context.ts';
import { isObserved, publish } from './diagnostics.ts';
import { mergeFields, setLocalFields } from './headers/merge.ts';
import { requestTarget } from './request-target.ts';
import type { HolderTarget } from './target.ts';

/** Sends the client to the holder: 307, since that keeps method and body. */
export function answerRedirect(target: HolderTarget, client: ClientSide, { options, leasehold, lease }: ExchangeContext): void {
  const { request, response, local } = client;
  if (response.headersSent) {
    cutOff(response, false);
    return;
  }
  const fields = ['Location', `${target.address}${originForm(requestTarget(request))}`, 'Content-Length', '0'];
  // Another instance may hold the role a minute later.
  fields.push('Cache-Control', 'no-store');
  if (options.instanceHeader !== null) fields.push(options.instanceHeader, leasehold.instance.id);
  if (isObserved('leasehold:proxy.redirected')) {
    const { holder, address } = target;
    const { method = '' } = request;
    publish('leasehold:proxy.redirected', { instance: leasehold.instance.id, role: lease.role, holder, address, method });
  }
  setLocalFields(response, local);
  mergeFields(response, fields);
  response.writeHead(307);
  response.end();
}

/** Of `http://host/path` the path: the host is the client's idea of this instance. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const scheme = target.indexOf('://');
  if (scheme === -1) return `/${target.slice(1)}`;
  const path = target.slice(scheme + 3).replace(/^[^/?#\\]*/, '');
  return path.startsWith('/') ? path : `/${path}`;
}
