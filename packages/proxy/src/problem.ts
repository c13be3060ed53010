import { STATUS_CODES } from 'node:http';
import type { ResolvedProxyOptions } from './options.ts';
import { type RefusalKind, refusals, type RefusalReason } from './refusal.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { HolderTarget, ThisInstance, HolderView } from './target.ts';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly target?: HolderTarget | undefined;
  readonly error?: unknown;
}

export interface ProblemContext {
  readonly options: ResolvedProxyOptions;
  readonly leasehold: ThisInstance;
  readonly lease: HolderView;
}

export interface Problem {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, `Content-Length` included. */
  readonly fields: readonly string[];
  readonly body: Buffer;
}

/** What any client may see. */
export interface PublicProblem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly reason: RefusalReason;
  readonly role: string;
}

/** An answer of the proxy's own: RFC 9457 for people and clients, RFC 9209 for machines on the way. */
export function buildProblem(refusal: Refusal, context: ProblemContext): Problem {
  const kind = refusals[refusal.reason];
  const statusText = STATUS_CODES[kind.status] ?? 'Error';
  const body = Buffer.from(JSON.stringify(buildBody(refusal, context)));
  const fields = ['Content-Type', 'application/problem+json', 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
  const seconds = retryAfterSeconds(kind.retryAfter, context.lease);
  if (seconds !== null) fields.push('Retry-After', String(seconds));
  fields.push('Proxy-Status', proxyStatus(refusal, kind, context.options.pseudonym));
  return { status: kind.status, statusText, fields, body };
}

export function buildPublicBody(reason: RefusalReason, role: string): PublicProblem {
  const { status, detail } = refusals[reason];
  return { title: STATUS_CODES[status] ?? 'Error', status, detail, reason, role };
}

function buildBody(refusal: Refusal, { options, leasehold, lease }: ProblemContext): object {
  const problem = buildPublicBody(refusal.reason, lease.role);
  if (!options.expose) return problem;
  return {
    ...problem,
    instance: leasehold.instance.id,
    holder: refusal.target?.holder ?? lease.currentHolder,
    address: refusal.target?.address ?? lease.currentHolderAddress,
  };
}

function proxyStatus(refusal: Refusal, kind: RefusalKind, pseudonym: string): string {
  return `${pseudonym}; error=${errorType(refusal, kind)}; details="${refusal.reason}"`;
}

/** A finer word for what went wrong, of those that RFC 9209 registers. */
function errorType({ reason, error }: Refusal, kind: RefusalKind): string {
  const code = codeOf(error);
  if (reason === 'unreachable') return connectErrors.get(code) ?? (isTlsCode(code) ? 'tls_certificate_error' : kind.proxyError);
  if (reason !== 'outcome-unknown') return kind.proxyError;
  if (code === 'ETIMEDOUT') return 'http_response_timeout';
  return code.startsWith('HPE_') || code === '' ? 'http_protocol_error' : kind.proxyError;
}

const connectErrors: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection_refused'],
  ['ETIMEDOUT', 'connection_timeout'],
  ['EHOSTUNREACH', 'destination_ip_unroutable'],
  ['ENETUNREACH', 'destination_ip_unroutable'],
  ['ENOTFOUND', 'dns_error'],
  ['EAI_AGAIN', 'dns_timeout'],
  ['EPROTO', 'tls_protocol_error'],
]);

/** OpenSSL's names for what is wrong with a certificate, and Node's own. */
function isTlsCode(code: string): boolean {
  return code.includes('CERT') || code.startsWith('UNABLE_TO_') || code.startsWith('ERR_TLS_') || otherTlsCodes.has(code);
}

const otherTlsCodes: ReadonlySet<string> = new Set([
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
]);

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}
