import { isIP } from 'node:net';
import type { Logger } from '@leasehold/core';

/** This instance, as its `Leasehold` knows it. */
export interface ThisInstance {
  /** Read anew for each request: an instance may learn its address after it listens. */
  readonly instance: { readonly id: string; readonly label: string; readonly address: string | null };
  /** False: it competes for nothing yet, and knows no holder. */
  readonly hasStarted?: boolean;
}

/** What the proxy needs of `Leasehold`. */
export interface ProxyLeasehold extends ThisInstance {
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE when the role is not registered. */
  get(role: string): RoleLeaseView;
}

/** Who holds one role: local, without I/O, and live, so that one object serves every request. */
export interface HolderView {
  readonly role: string;
  readonly isHeld: boolean;
  readonly currentHolder: string | null;
  readonly currentHolderAddress: string | null;
  /** What is left of the holder's lease as last seen, in milliseconds; 0 when unknown. */
  readonly holderRemainingMs: number;
  /** In milliseconds. */
  readonly renewIntervalMs: number;
}

/** What the proxy needs of `RoleLease`. */
export interface RoleLeaseView extends HolderView {
  readonly fencingToken: bigint | null;
}

/** What the proxy needs of a partition: the role that a key belongs to. Local, without I/O. */
export interface PartitionView {
  /** Answers with the same live object for the same role. */
  resolve(key: string): HolderView;
  resolve(scope: string, key: string): HolderView;
}

/** What the partition form needs of `Leasehold`. */
export interface PartitionLeasehold extends ThisInstance {
  /** @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE when the partition is not registered. */
  getPartition(name: string): PartitionView;
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
  /** When an answer was last complete, on the monotonic clock: the last time a connection became idle. */
  usedAt: number = Number.NEGATIVE_INFINITY;
  #failing = false;

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

  /** Says the first failure since the holder last answered, and no other: one line for each change. */
  noteFailure({ lease: { role }, options: { logger } }: LogContext, { reason, error }: { reason: string; error: unknown }): void {
    if (this.#failing) return;
    this.#failing = true;
    const fields = { role, holder: this.holder, address: this.address, reason, err: error };
    logger.warn(fields, 'a request could not be forwarded to the holder');
  }

  noteReached({ lease: { role }, options: { logger } }: LogContext): void {
    if (!this.#failing) return;
    this.#failing = false;
    logger.info({ role, holder: this.holder, address: this.address }, 'the holder answers again');
  }
}

interface LogContext {
  readonly lease: HolderView;
  readonly options: { readonly logger: Logger };
}

function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
