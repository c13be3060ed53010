import { type Clock, systemClock } from '../clock.ts';
import { type Duration, resolveDuration } from '../duration.ts';
import { requireThat } from '../require-option.ts';
import { parseHttpDate } from './http-date.ts';

/**
 * What another server said about when to come again: the text of its `Retry-After` (seconds, or a date in one of the three
 * forms of HTTP), its headers or its response, or a time made by hand. A number alone is refused, as it does not say
 * whether it means seconds or milliseconds.
 */
export type RetryAfter = string | Date | { readonly seconds: number } | HeadersLike | ResponseLike | null | undefined;

/** `Headers`, or the plain object that `node:http` and most clients have. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** `Response`, an `IncomingMessage`, or what any client has with `headers` on it. */
export interface ResponseLike {
  readonly headers: HeadersLike;
}

export interface RetryAfterOptions {
  /** No more is believed: a server that says a hundred years is mistaken. @default '7d' */
  readonly max?: Duration;
  /** Dates are relative to its wall clock, or to the response's own `Date` where it has one. @default the system's clock */
  readonly clock?: Clock;
}

const LONGEST: Duration = '7d';

/**
 * Milliseconds until the other server wants to be asked again, at least 0; null when it did not say, or not in a way that
 * means anything.
 *
 * *Gotcha:* headers and a response with a `Date` are measured by the server's clock alone; the text of a date by this
 * machine's, which may be wrong.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION when it is a number.
 * @throws {LeaseholdError} LEASEHOLD_INVALID_DURATION when `max` is none.
 */
export function retryAfterMs(retryAfter: RetryAfter, options: RetryAfterOptions = {}): number | null {
  const { max = LONGEST, clock = systemClock } = options;
  const maxMs = resolveDuration('max', max);
  requireThat(
    typeof retryAfter !== 'number',
    'retryAfter',
    retryAfter,
    'say what it counts, as in { seconds: 30 }, or give the response or its header',
  );
  const ms = read(retryAfter, clock.wall());
  return ms === null || Number.isNaN(ms) ? null : Math.min(Math.max(Math.ceil(ms), 0), maxMs);
}

function read(retryAfter: RetryAfter, nowMs: number): number | null {
  if (typeof retryAfter === 'string') return parse(retryAfter, nowMs);
  if (typeof retryAfter !== 'object' || retryAfter === null) return null;
  if (retryAfter instanceof Date) return retryAfter.getTime() - nowMs;
  const { seconds, headers } = retryAfter as { readonly seconds?: unknown; readonly headers?: unknown };
  if (typeof seconds === 'number') return seconds * 1_000;
  const fields = typeof headers === 'object' && headers !== null ? headers : retryAfter;
  const text = field(fields, 'retry-after');
  return text === null ? null : parse(text, parseHttpDate(field(fields, 'date') ?? '', nowMs) ?? nowMs);
}

/** Seconds may have a fraction: that is not HTTP, and some servers send it all the same. */
function parse(text: string, nowMs: number): number | null {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1_000;
  const date = parseHttpDate(trimmed, nowMs);
  return date === null ? null : date - nowMs;
}

function field(headers: object, name: string): string | null {
  const { get } = headers as { readonly get?: unknown };
  const value: unknown = typeof get === 'function' ? get.call(headers, name) : entry(headers, name);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

function entry(headers: object, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}
