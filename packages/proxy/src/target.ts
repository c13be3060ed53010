import { isIP } from 'node:net';

/** What the proxy needs of `Leasehold`. */
export interface ProxyLeasehold {
  /** Read anew for each request: an instance may learn its address after it listens. */
  readonly instance: { readonly id: string; readonly label: string; readonly address: string | null };
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE when the role is not registered. */
  get(role: string): RoleLeaseView;
}

/** What the proxy needs of `RoleLease`: local, without I/O, and live, so that one object serves every request. */
export interface RoleLeaseView {
  readonly role: string;
  readonly isHeld: boolean;
  readonly fencingToken: bigint | null;
  readonly currentHolder: string | null;
  readonly currentHolderAddress: string | null;
  /** What is left of the holder's lease as last seen, in milliseconds; 0 when unknown. */
  readonly holderRemainingMs: number;
  /** In milliseconds. */
  readonly renewIntervalMs: number;
}

/**
 * One holder at one address, resolved once and used by each request until the row says something else. Address parts
 * stay apart all the way to the socket: no key is ever made by joining an address and a path.
 */
export class HolderTarget {
  readonly holder: string;
  /** Canonical origin. */
  readonly address: string;
  readonly secure: boolean;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** `host:port` as a Host field, for the HTTP/1.0 client that sent none. */
  readonly authority: string;
  readonly isLoopback: boolean;
  /** True from the first failure to reach it until it is reached again, so that each change is logged once. */
  failing = false;

  constructor(holder: string, address: string) {
    const url = new URL(address);
    this.holder = holder;
    this.address = address;
    this.secure = url.protocol === 'https:';
    this.host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
    this.port = url.port === '' ? (this.secure ? 443 : 80) : Number(url.port);
    this.authority = url.host;
    this.isLoopback = isLoopbackHost(this.host);
  }
}

function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
