import { isTrue } from './ask.ts';
import type { ClientSide, ExchangeContext } from './exchange-context.ts';
import { buildRequestHead, type RequestHead } from './headers/request-head.ts';
import type { HolderTarget } from './target.ts';

/** The head that the holder gets for a request of a client. */
export function buildForwardedHead(target: HolderTarget, client: ClientSide, context: ExchangeContext): RequestHead {
  const { request, awaitsContinue, upgrade } = client;
  return buildRequestHead(request, {
    hop: context.hop,
    pseudonym: context.options.pseudonym,
    authority: target.authority,
    trustForwarded: trustsForwarded(client, context),
    keepExpect: awaitsContinue,
    protocols: upgrade === null ? null : upgrade.protocols,
  });
}

function trustsForwarded({ request }: ClientSide, { options, lease }: ExchangeContext): boolean {
  const { trustForwarded, logger } = options;
  if (typeof trustForwarded === 'boolean') return trustForwarded;
  return isTrue(trustForwarded, request, (error) => {
    logger.error({ role: lease.role, err: error }, 'trustForwarded failed; X-Forwarded-* of the client is dropped');
  });
}
