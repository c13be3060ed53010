import type { AddressInfo } from 'node:net';
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import { Server as TlsServer } from 'node:tls';
import { LeaseholdError, resolveAddress, showValue } from '@leasehold/core';

/** `'auto'`: where the server listens. A string: an origin. A function: asked once the server listens; null is no address. */
export type Advertise = 'auto' | (string & {}) | (() => string | null);

/** What `'auto'` needs of `net.Server`. */
export interface ListeningServer {
  address(): AddressInfo | string | null;
}

export interface ResolveAdvertisedOptions {
  /** Whether the other instances reach the server by https. @default true for a TLS server */
  readonly secure?: boolean;
  /** For tests. @default those of this machine */
  readonly interfaces?: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
}

/**
 * The origin where the other instances reach this one, or null while that cannot be known: before the server listens.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS when it is not an http(s) origin, or the server listens on a path, or
 *   speaks HTTP/2 alone.
 */
export function resolveAdvertisedAddress(
  advertise: Advertise,
  server: ListeningServer | null,
  options: ResolveAdvertisedOptions = {},
): string | null {
  if (advertise === 'auto') return server === null ? null : addressOf(server, options);
  const value: unknown = typeof advertise === 'function' ? advertise() : advertise;
  if (value === null && typeof advertise === 'function') return null;
  // Refused below, and its rejection would be nobody's.
  if (value instanceof Promise) value.catch(() => {});
  return resolveAddress('advertise', value);
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS */
export function validateAddress(url: unknown, option: string): string {
  return resolveAddress(option, url);
}

function addressOf(server: ListeningServer, options: ResolveAdvertisedOptions): string | null {
  const bound = server.address();
  if (bound === null) return null;
  if (typeof bound === 'string') {
    throw new LeaseholdError(
      'LEASEHOLD_INVALID_ADDRESS',
      `advertise is 'auto' and the server listens on ${showValue(bound)}, where no other machine reaches it; give an origin such as 'http://app-03.internal:3000'.`,
      { option: 'advertise' },
    );
  }
  requireHttp1(server);
  const scheme = (options.secure ?? server instanceof TlsServer) ? 'https' : 'http';
  const host = isWildcard(bound.address) ? reachableHost(options.interfaces ?? networkInterfaces()) : bound.address;
  return resolveAddress('advertise', `${scheme}://${bracketed(host)}:${bound.port}`);
}

/** What `node:http2` gives speaks HTTP/1.1 only when it was told to, and has the limits of HTTP/1.1 only then. */
function requireHttp1(server: ListeningServer): void {
  if (!('updateSettings' in server) || 'requestTimeout' in server) return;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_ADDRESS',
    "advertise is 'auto' and the server speaks HTTP/2 alone, while the other instances forward by HTTP/1.1; give the server a certificate and allowHTTP1: true, or give the origin of a server that speaks HTTP/1.1.",
    { option: 'advertise' },
  );
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Loopback is left when the machine has no other: then there are no other machines either. */
function reachableHost(interfaces: NonNullable<ResolveAdvertisedOptions['interfaces']>): string {
  const external = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => !address.internal && !isLinkLocal(address.address));
  const best = external.find(({ family }) => family === 'IPv4') ?? external[0];
  return best?.address ?? '127.0.0.1';
}

/** It means something on one cable alone, and in IPv6 not without the name of an interface of the machine that asks. */
function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab]/i.test(address);
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
