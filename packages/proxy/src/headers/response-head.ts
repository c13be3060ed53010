import type { IncomingMessage, ServerResponse } from 'node:http';
import { kindOf } from './field-names.ts';
import { namesNothing, removeNominated } from './nominated.ts';
import { isChunked } from './transfer-coding.ts';

export interface ResponseHead {
  /** Names and values in turn. */
  readonly fields: string[];
  /** Whether the length is known: what follows is then soon there, and one packet carries head and body. */
  readonly hasLength: boolean;
}

/** A final answer that cannot be passed on as what it is. */
class UnusableAnswerError extends Error {
  override readonly name = 'UnusableAnswerError';
}

/**
 * The head of the answer to the client, from the raw fields of the holder's. Framing is Node's to decide for the
 * client's connection, except a known length.
 *
 * @throws {UnusableAnswerError}
 */
export function buildResponseHead(head: IncomingMessage, response: ServerResponse): ResponseHead {
  const { rawHeaders } = head;
  const status = head.statusCode ?? 0;
  if (status < 200 || status > 999) throw new UnusableAnswerError(`The holder answered with the final status ${status}.`);
  const writer = new ResponseHeadWriter();
  for (let i = 0; i < rawHeaders.length; i += 2) writer.take(rawHeaders[i] as string, rawHeaders[i + 1] as string);
  // A 204 has no length, and one of HTTP/1.0 or with a length has no chunks for a trailer to follow.
  return writer.finish({ allowLength: status !== 204, allowTrailer: hasChunks(status, response) });
}

function hasChunks(status: number, response: ServerResponse): boolean {
  return status !== 204 && status !== 304 && response.req.method !== 'HEAD' && response.req.httpVersion !== '1.0';
}

class ResponseHeadWriter {
  readonly #fields: string[] = [];
  #connection = '';
  #lengthName: string | undefined;
  #length = '';
  #trailer: string | undefined;

  take(name: string, value: string): void {
    const kind = kindOf(name);
    if (kind === undefined) this.#fields.push(name, value);
    else if (kind === 'content-length') this.#takeLength(name, value);
    else if (kind === 'connection') this.#takeConnection(value);
    else if (kind === 'trailer') this.#trailer = this.#trailer === undefined ? value : `${this.#trailer}, ${value}`;
    else if (kind === 'transfer-encoding') requireChunked(value);
    else if (kind !== 'hop-by-hop' && kind !== 'te' && kind !== 'hop') this.#fields.push(name, value);
  }

  #takeLength(name: string, value: string): void {
    if (this.#lengthName !== undefined) return;
    this.#lengthName = name;
    this.#length = value;
  }

  #takeConnection(value: string): void {
    if (!namesNothing(value)) this.#connection += `,${value}`;
  }

  /** A trailer with a known length would end the process: Node throws at it. */
  finish({ allowLength, allowTrailer }: { allowLength: boolean; allowTrailer: boolean }): ResponseHead {
    const fields = this.#fields;
    const hasLength = this.#lengthName !== undefined && allowLength;
    if (this.#connection !== '') removeNominated(fields, this.#connection);
    if (hasLength) fields.push(this.#lengthName as string, this.#length);
    else if (this.#trailer !== undefined && allowTrailer) fields.push('Trailer', this.#trailer);
    return { fields, hasLength };
  }
}

/** Node takes off `chunked` alone; what is left of `gzip, chunked` would reach the client without its label. */
function requireChunked(value: string): void {
  if (!isChunked(value)) throw new UnusableAnswerError(`The holder answered with the transfer coding "${value}".`);
}
