import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { http2Stream } from '../http2.ts';
import { kindOf } from './field-names.ts';
import { namesNothing, nominatedBy, removeNominated } from './nominated.ts';

export interface RequestHeadOptions {
  /** `Leasehold-Hop`: role, this instance, token. */
  readonly hop: string;
  /** The name of this proxy in `Via`. */
  readonly pseudonym: string;
  /** `Host`, where the client sent none. */
  readonly authority: string;
  readonly trustForwarded: boolean;
  /** Pass `Expect` on, and let the holder say when the body may come. */
  readonly keepExpect: boolean;
  /** The protocols to offer in `Upgrade`; null for a request that is to be answered as one. */
  readonly protocols: string | null;
}

export interface RequestHead {
  /** Names and values in turn. */
  readonly fields: string[];
  readonly hasBody: boolean;
  /** Whether trailers can be sent. */
  readonly chunked: boolean;
}

/**
 * The head of the forwarded request, from the raw fields: case, order, duplicates and bytes above ASCII survive, as the
 * holder is the same application and should see what this instance saw.
 */
export function buildRequestHead(request: IncomingMessage, options: RequestHeadOptions): RequestHead {
  const writer = new RequestHeadWriter(request, options);
  const { rawHeaders } = request;
  const isHttp2 = http2Stream(request) !== undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (isHttp2) writer.takeOfHttp2(rawHeaders[i] as string, rawHeaders[i + 1] as string);
    else writer.take(rawHeaders[i] as string, rawHeaders[i + 1] as string);
  }
  return writer.finish();
}

class RequestHeadWriter {
  readonly #request: IncomingMessage;
  readonly #options: RequestHeadOptions;
  readonly #fields: string[];
  #connection = '';
  #host: string | undefined;
  #length: string | undefined;
  #chunked = false;
  #trailer: string | undefined;
  #takesTrailers = false;
  readonly #cookies: string[] = [];
  #forwardedFor = '';
  #forwardedProto: string | undefined;
  #forwardedHost: string | undefined;

  constructor(request: IncomingMessage, options: RequestHeadOptions) {
    this.#request = request;
    this.#options = options;
    // The marker comes first: what a parser leaves out of a head with very many fields is at its end.
    this.#fields = ['Leasehold-Hop', options.hop];
  }

  take(name: string, value: string): void {
    const kind = kindOf(name);
    if (kind === undefined || kind === 'content-disposition') this.#push(name, value);
    else if (kind === 'host') this.#takeHost(name, value);
    else if (kind === 'connection') this.#takeConnection(value);
    else if (kind === 'content-length') this.#length ??= value;
    else if (kind === 'transfer-encoding') this.#chunked = true;
    else if (kind === 'te') this.#takesTrailers ||= acceptsTrailers(value);
    else if (kind === 'trailer') this.#trailer = this.#trailer === undefined ? value : `${this.#trailer}, ${value}`;
    else if (kind === 'expect') this.#takeExpect(name, value);
    else if (this.#options.trustForwarded) this.#takeForwarded(kind, name, value);
  }

  /** The host is a pseudo field there, and a cookie may come in crumbs that HTTP/1.1 knows nothing of. */
  takeOfHttp2(name: string, value: string): void {
    if (name === ':authority') this.take('Host', value);
    else if (name === 'cookie') this.#cookies.push(value);
    else if (!name.startsWith(':')) this.take(name, value);
  }

  #push(name: string, value: string): void {
    this.#fields.push(name, value);
  }

  /** Node goes by the first of several; so does the holder then. */
  #takeHost(name: string, value: string): void {
    if (this.#host !== undefined) return;
    this.#host = value;
    this.#push(name, value);
  }

  #takeConnection(value: string): void {
    if (!namesNothing(value)) this.#connection += `,${value}`;
  }

  #takeExpect(name: string, value: string): void {
    if (this.#options.keepExpect) this.#push(name, value);
  }

  #takeForwarded(kind: string, name: string, value: string): void {
    if (kind === 'forwarded-for') this.#forwardedFor += this.#forwardedFor === '' ? value : `, ${value}`;
    else if (kind === 'forwarded-proto') this.#forwardedProto ??= value;
    else if (kind === 'forwarded-host') this.#forwardedHost ??= value;
    else if (kind === 'forwarded-other') this.#push(name, value);
  }

  finish(): RequestHead {
    if (this.#cookies.length > 0) this.#push('cookie', this.#cookies.join('; '));
    // A body without a length needs no framing in HTTP/2.
    if (this.#length === undefined && http2Stream(this.#request)?.endAfterHeaders === false) this.#chunked = true;
    if (this.#connection !== '') this.#stripNominated();
    this.#addFraming();
    this.#addForwarded();
    return { fields: this.#fields, hasBody: this.#chunked || (this.#length ?? '0') !== '0', chunked: this.#chunked };
  }

  #stripNominated(): void {
    removeNominated(this.#fields, this.#connection);
    const names = nominatedBy(this.#connection);
    if (names.has('x-forwarded-for')) this.#forwardedFor = '';
    if (names.has('x-forwarded-proto')) this.#forwardedProto = undefined;
    if (names.has('x-forwarded-host')) this.#forwardedHost = undefined;
    if (names.has('trailer')) this.#trailer = undefined;
  }

  /**
   * Last, and one of the two alone: with both, two parsers can see two requests. (Node also spoils bytes above ASCII of
   * a `Content-Disposition` that follows a `Content-Length`.)
   */
  #addFraming(): void {
    if (this.#host === undefined) this.#push('Host', this.#options.authority);
    this.#addConnection();
    if (this.#chunked) {
      if (this.#trailer !== undefined) this.#push('Trailer', this.#trailer);
      this.#push('Transfer-Encoding', 'chunked');
    } else if (this.#length !== undefined) {
      this.#push('Content-Length', this.#length);
    }
  }

  #addConnection(): void {
    const { protocols } = this.#options;
    if (this.#takesTrailers) this.#push('TE', 'trailers');
    if (protocols !== null) this.#push('Upgrade', protocols);
    const names = [...(this.#takesTrailers ? ['TE'] : []), ...(protocols === null ? [] : ['Upgrade'])];
    if (names.length > 0) this.#push('Connection', names.join(', '));
  }

  #addForwarded(): void {
    const { remoteAddress } = this.#request.socket;
    const client = remoteAddress ?? 'unknown';
    this.#push('X-Forwarded-For', this.#forwardedFor === '' ? client : `${this.#forwardedFor}, ${client}`);
    this.#push('X-Forwarded-Proto', this.#forwardedProto ?? schemeOf(this.#request));
    const host = this.#forwardedHost ?? this.#host;
    if (host !== undefined) this.#push('X-Forwarded-Host', host);
    this.#push('Via', `${this.#request.httpVersion} ${this.#options.pseudonym}`);
  }
}

function schemeOf(request: IncomingMessage): string {
  return (request.socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
}

/** `TE: trailers`, and not `trailers;q=0`. */
function acceptsTrailers(te: string): boolean {
  return te.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers');
}
