import { LeaseholdError, showValue } from '@leasehold/core';
import { canonicalText } from './canonical-path.ts';

/** What a path cannot hold, and what looks like a pattern: a prefix matches whole segments by itself. */
const UNWANTED = /[\p{Cc}\s?#*\\;]/u;

/**
 * Checks the prefixes and brings them into the form that requests are compared with. `/` stands for every path.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX
 */
export function resolvePrefixes(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidPrefix('prefixes', value, "give an array of one path or more, such as ['/maintenance']");
  }
  return [...new Set(value.map(resolvePrefix))];
}

function resolvePrefix(value: unknown, index: number): string {
  const option = `prefixes[${index}]`;
  if (typeof value !== 'string' || !value.startsWith('/')) {
    throw invalidPrefix(option, value, "give a path that begins with '/', such as '/maintenance'");
  }
  if (UNWANTED.test(value) || value.split('/').some((segment) => segment.startsWith(':'))) {
    throw invalidPrefix(
      option,
      value,
      "give a plain path without query, white space or pattern: '/a' covers all of '/a/…' already",
    );
  }
  if (/%(?![0-9a-f]{2})/i.test(value) || !value.isWellFormed()) {
    throw invalidPrefix(option, value, "write '%' as '%25', and no half of a surrogate pair");
  }
  const path = canonicalText(encodeNonAscii(value));
  if (/\/\/|\/\.{1,2}(\/|$)/.test(path)) {
    throw invalidPrefix(option, value, "leave out empty, '.' and '..' segments");
  }
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** As a client would send it: UTF-8, percent-encoded. */
function encodeNonAscii(path: string): string {
  return path.replace(/[\u0080-\u{10ffff}]+/gu, encodeURIComponent);
}

function invalidPrefix(option: string, value: unknown, fix: string): LeaseholdError {
  return new LeaseholdError('LEASEHOLD_INVALID_PREFIX', `${option} is ${showValue(value)}; ${fix}.`, { option });
}
