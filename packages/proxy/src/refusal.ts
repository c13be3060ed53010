import type { RefuseDecision } from './decision.ts';

/**
 * Why a request got an answer of the proxy's own.
 *
 * - `failover`: it was forwarded here, and this instance does not hold the role: roles are changing hands.
 * - `forwarding-forbidden`: the client asked not to be forwarded, and this instance does not hold the role.
 * - `no-holder`: nobody is known to hold the role.
 * - `no-address`: the holder advertises no address, or one that is not an http(s) origin.
 * - `address-not-trusted`: `trustAddress` did not answer true for the holder's address.
 * - `self`: the row names this instance, which does not hold the role: it would call itself.
 * - `not-held`: a guard of a framework, and not the proxy, found that this instance does not hold the role; nothing is forwarded.
 * - `overloaded`: as many requests are in flight to the holder as `maxInFlight` allows.
 * - `stopping`: this proxy was closed.
 * - `unreachable`: no connection to the holder; nothing was sent.
 * - `outcome-unknown`: sent, and no usable answer came; the holder may have executed it.
 * - `upgrade-with-body`: a protocol upgrade that has a body: where it ends, and the other protocol begins, is not known.
 * - `affinity-key-missing`: it has no affinity key, so no role of the partition is its own.
 * - `affinity-key-invalid`: its affinity key is too long, or there is more than one.
 * - `affinity-failed`: the application could not tell the affinity key or its role.
 * - `body-already-read`: something before the proxy read the request body.
 * - `unsupported-transfer-encoding`: a `Transfer-Encoding` other than `chunked`.
 * - `too-many-header-fields`: so many that Node may have left some out, framing among them.
 * - `malformed-request`: it cannot be written as an HTTP/1.1 request again.
 */
export type RefusalReason =
  | 'failover'
  | 'forwarding-forbidden'
  | 'no-holder'
  | 'no-address'
  | 'address-not-trusted'
  | 'self'
  | 'not-held'
  | 'overloaded'
  | 'stopping'
  | 'unreachable'
  | 'outcome-unknown'
  | 'upgrade-with-body'
  | 'affinity-key-missing'
  | 'affinity-key-invalid'
  | 'affinity-failed'
  | 'body-already-read'
  | 'unsupported-transfer-encoding'
  | 'too-many-header-fields'
  | 'malformed-request';

export interface RefusalKind {
  readonly status: number;
  /** What people read. */
  readonly detail: string;
  /** Error type of RFC 9209 where the error itself does not tell a better one. */
  readonly proxyError: string;
  /** What `Retry-After` is taken from; null when trying again does not help. */
  readonly retryAfter: 'lease' | 'renewal' | 'soon' | null;
}

const MAY_RETRY = 'Nothing was executed; the request can be sent again.';

export const refusals: Readonly<Record<RefusalReason, RefusalKind>> = {
  failover: {
    status: 503,
    detail: `This instance was taken for the holder of the role and is not: the role is changing hands. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'soon',
  },
  'not-held': {
    status: 503,
    detail: `This instance does not hold the role, and only its holder may run this. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'renewal',
  },
  'forwarding-forbidden': {
    status: 503,
    detail: `This instance does not hold the role, and the request may not be forwarded. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'renewal',
  },
  'no-holder': {
    status: 503,
    detail: `No instance is known to hold the role. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'soon',
  },
  'no-address': {
    status: 503,
    detail: `The holder of the role advertises no usable address. ${MAY_RETRY}`,
    proxyError: 'destination_not_found',
    retryAfter: 'renewal',
  },
  'address-not-trusted': {
    status: 503,
    detail: `The address of the holder is not one that this instance may call. ${MAY_RETRY}`,
    proxyError: 'destination_ip_prohibited',
    retryAfter: 'renewal',
  },
  self: {
    status: 503,
    detail: `This instance is named as the holder of the role and does not hold it any more. ${MAY_RETRY}`,
    proxyError: 'proxy_loop_detected',
    retryAfter: 'renewal',
  },
  overloaded: {
    status: 503,
    detail: `Too many requests to the holder of the role are in flight. ${MAY_RETRY}`,
    proxyError: 'connection_limit_reached',
    retryAfter: 'renewal',
  },
  stopping: {
    status: 503,
    detail: `This instance is stopping. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'renewal',
  },
  unreachable: {
    status: 503,
    detail: `The holder of the role could not be reached. ${MAY_RETRY}`,
    proxyError: 'destination_unavailable',
    retryAfter: 'lease',
  },
  'outcome-unknown': {
    status: 503,
    detail:
      'The request was sent to the holder of the role and no complete answer came. It may have been executed: find out before sending it again.',
    proxyError: 'connection_terminated',
    retryAfter: 'lease',
  },
  'upgrade-with-body': {
    status: 501,
    detail: 'A protocol upgrade with a body is not forwarded. Nothing was executed.',
    proxyError: 'http_upgrade_failed',
    retryAfter: null,
  },
  'affinity-key-missing': {
    status: 400,
    detail: 'The request has no affinity key, which says to what instance it belongs. Nothing was executed.',
    proxyError: 'http_request_error',
    retryAfter: null,
  },
  'affinity-key-invalid': {
    status: 400,
    detail: 'The affinity key of the request is too long, or there is more than one. Nothing was executed.',
    proxyError: 'http_request_error',
    retryAfter: null,
  },
  'affinity-failed': {
    status: 500,
    detail: 'This instance could not tell to what instance the request belongs. Nothing was executed.',
    proxyError: 'proxy_internal_error',
    retryAfter: null,
  },
  'body-already-read': {
    status: 500,
    detail: 'The request body was read before it could be forwarded: mount the role-holder proxy before every body parser.',
    proxyError: 'proxy_internal_error',
    retryAfter: null,
  },
  'unsupported-transfer-encoding': {
    status: 501,
    detail: 'Only the transfer coding "chunked" is supported.',
    proxyError: 'http_request_error',
    retryAfter: null,
  },
  'too-many-header-fields': {
    status: 431,
    detail: 'The request has too many header fields to be forwarded whole.',
    proxyError: 'http_request_error',
    retryAfter: null,
  },
  'malformed-request': {
    status: 400,
    detail: 'The request cannot be forwarded as HTTP/1.1.',
    proxyError: 'http_request_error',
    retryAfter: null,
  },
};

const decisions = new Map<RefusalReason, RefuseDecision>();

/** The one shared decision for a reason. */
export function refuse(reason: RefusalReason): RefuseDecision {
  let decision = decisions.get(reason);
  if (decision === undefined) decisions.set(reason, (decision = { kind: 'refuse', reason }));
  return decision;
}
