import type { IncomingMessage } from 'node:http';
import {
  type Clock,
  type Duration,
  LeaseholdError,
  type Logger,
  resolveDuration,
  showValue,
  silentLogger,
  systemClock,
} from '@leasehold/core';
import { guardLogger, requireKnown } from '@leasehold/core/adapter';
import { kindOf } from './headers/field-names.ts';
import { resolvePrefixes } from './prefix.ts';
import { type HolderTlsOptions, type ResolvedTls, resolveTls } from './tls-options.ts';

export interface RoleHolderProxyOptions {
  /** The role whose holder executes what is under the prefixes. Register it before. */
  readonly role: string;
  /**
   * Paths, each with everything below it: `/maintenance` covers `/maintenance` and `/maintenance/x`, not
   * `/maintenance2`. Compared with the path as the client sent it, whatever the case or percent-encoding.
   */
  readonly prefixes: readonly string[];
  /**
   * `redirect` answers with 307 to the same path at the holder's address, in place of forwarding: where clients reach every
   * instance by the address that it advertises, and shall see it. Two instances that take each other for the holder send a
   * client to and fro until it stops by itself.
   *
   * @default 'forward'
   */
  readonly mode?: 'forward' | 'redirect';
  /** Field of the answer that names the instance that gave it, such as `X-Served-By`. @default none names it */
  readonly instanceHeader?: string;
  /** How long a connection to the holder, TLS included, may take. @default '2s' */
  readonly connectTimeout?: Duration;
  /**
   * How long the holder may take from the end of the request to the head of its answer. Bodies may take any time.
   *
   * @default '30s'
   */
  readonly headTimeout?: Duration;
  /**
   * How long a connection to the holder is kept without use. Keep it below the `keepAliveTimeout` of the holder's
   * server (Node's default is 5 s), or a request meets a connection that is just being closed.
   *
   * @default '4s'
   */
  readonly idleTimeout?: Duration;
  /**
   * Requests that may be in flight to the holder, streams and upgraded connections included; in the partition form to all
   * holders together. One more is refused; nothing queues.
   *
   * @default 10_000
   */
  readonly maxInFlight?: number;
  /** The largest head of the holder's answer, in bytes. @default Node's own limit, 16 KiB */
  readonly maxHeaderSize?: number;
  /**
   * Whether the client may be believed about `X-Forwarded-*` and `Forwarded`: true when only a proxy of yours can reach
   * this server. Otherwise they are dropped and written anew from the socket.
   *
   * @default false
   */
  readonly trustForwarded?: boolean | ((request: IncomingMessage) => boolean);
  /**
   * Asked once for each address on the row; anything but `true` refuses it, so that a row written by somebody else cannot
   * make the application call out.
   *
   * @default every http(s) origin is taken
   */
  readonly trustAddress?: (origin: string) => boolean;
  /** Whether problem bodies name the holder, its address and this instance. @default false */
  readonly expose?: boolean;
  /**
   * What happens to streams and upgraded connections to an instance when another one takes the role. `close` cuts their clients,
   * spread over one renew interval, so that they come back to the new holder and not all at once.
   *
   * @default 'keep'
   */
  readonly onRoleChange?: 'keep' | 'close';
  /** What `Via` and `Proxy-Status` call this proxy: a token. @default 'leasehold' */
  readonly pseudonym?: string;
  readonly tls?: HolderTlsOptions;
  /** @default nothing is logged */
  readonly logger?: Logger;
  /** For tests. @default the system's clock */
  readonly clock?: Clock;
}

/** What both forms are given. */
export type CommonOptions = Omit<RoleHolderProxyOptions, 'role'>;

/** What both forms have. Milliseconds throughout. */
export interface ResolvedProxyOptions {
  readonly prefixes: readonly string[];
  readonly redirects: boolean;
  readonly instanceHeader: string | null;
  readonly connectTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxHeaderSize: number | undefined;
  readonly trustForwarded: boolean | ((request: IncomingMessage) => unknown);
  readonly trustAddress: (origin: string) => unknown;
  readonly expose: boolean;
  readonly closeOnRoleChange: boolean;
  readonly pseudonym: string;
  readonly tls: ResolvedTls;
  readonly logger: Logger;
  readonly hasLogger: boolean;
  readonly clock: Clock;
}

/** Without the role or the partition. */
export const COMMON_OPTIONS: readonly string[] = [
  'prefixes',
  'mode',
  'instanceHeader',
  'connectTimeout',
  'headTimeout',
  'idleTimeout',
  'maxInFlight',
  'maxHeaderSize',
  'trustForwarded',
  'trustAddress',
  'expose',
  'onRoleChange',
  'pseudonym',
  'tls',
  'logger',
  'clock',
] satisfies (keyof CommonOptions)[];
const LONGEST_TIMEOUT_MS = 86_400_000;

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveRole(options: RoleHolderProxyOptions): string {
  requireThat(typeof options === 'object' && options !== null, 'options', options, 'give an object with role and prefixes');
  // A misspelt `trustAddress` would trust every address, in silence.
  requireKnown('roleHolderProxy', options, ['role', ...COMMON_OPTIONS]);
  const { role } = options;
  requireThat(typeof role === 'string' && role !== '', 'role', role, 'give the name of a registered role');
  return role;
}

/**
 * Checks all options but the role or the partition, once.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_PREFIX, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_OPTION
 */
export function resolveProxyOptions(options: CommonOptions): ResolvedProxyOptions {
  const { trustForwarded = false, trustAddress, expose = false, onRoleChange = 'keep', pseudonym = 'leasehold' } = options;
  requireThat(typeof expose === 'boolean', 'expose', expose, 'give true or false');
  requireThat(onRoleChange === 'keep' || onRoleChange === 'close', 'onRoleChange', onRoleChange, "give 'keep' or 'close'");
  requireThat(isToken(pseudonym), 'pseudonym', pseudonym, 'give 1 to 64 letters, digits, dots, hyphens or underscores');
  return {
    prefixes: resolvePrefixes(options.prefixes),
    ...resolveMode(options),
    ...resolveLimits(options),
    trustForwarded: resolveTrustForwarded(trustForwarded),
    trustAddress: resolveTrustAddress(trustAddress),
    expose,
    closeOnRoleChange: onRoleChange === 'close',
    pseudonym,
    tls: resolveTls(options.tls),
    // It is called where nobody would catch what it throws.
    logger: guardLogger(options.logger ?? silentLogger),
    hasLogger: options.logger !== undefined,
    clock: options.clock ?? systemClock,
  };
}

function resolveMode({
  mode = 'forward',
  instanceHeader,
}: CommonOptions): Pick<ResolvedProxyOptions, 'redirects' | 'instanceHeader'> {
  requireThat(mode === 'forward' || mode === 'redirect', 'mode', mode, "give 'forward' or 'redirect'");
  const named = instanceHeader === undefined || isFieldName(instanceHeader);
  requireThat(named, 'instanceHeader', instanceHeader, "give the name of a field of your own, such as 'X-Served-By'");
  return { redirects: mode === 'redirect', instanceHeader: instanceHeader ?? null };
}

/** And none that means something to the proxy itself. */
function isFieldName(value: unknown): boolean {
  return typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(value) && kindOf(value) === undefined;
}

type Limits = Pick<
  ResolvedProxyOptions,
  'connectTimeoutMs' | 'headTimeoutMs' | 'idleTimeoutMs' | 'maxInFlight' | 'maxHeaderSize'
>;

function resolveLimits(options: CommonOptions): Limits {
  const { maxInFlight = 10_000, maxHeaderSize } = options;
  requireThat(isPositiveInteger(maxInFlight), 'maxInFlight', maxInFlight, 'give a whole number from 1');
  const sizeIsValid = maxHeaderSize === undefined || isPositiveInteger(maxHeaderSize);
  requireThat(sizeIsValid, 'maxHeaderSize', maxHeaderSize, 'give a number of bytes from 1');
  const bounds = { max: LONGEST_TIMEOUT_MS };
  return {
    connectTimeoutMs: resolveDuration('connectTimeout', options.connectTimeout ?? '2s', bounds),
    headTimeoutMs: resolveDuration('headTimeout', options.headTimeout ?? '30s', bounds),
    idleTimeoutMs: resolveDuration('idleTimeout', options.idleTimeout ?? '4s', bounds),
    maxInFlight,
    maxHeaderSize,
  };
}

function resolveTrustForwarded(trust: unknown): ResolvedProxyOptions['trustForwarded'] {
  const valid = typeof trust === 'boolean' || typeof trust === 'function';
  requireThat(valid, 'trustForwarded', trust, 'give true, false or a function of the request');
  return trust as ResolvedProxyOptions['trustForwarded'];
}

function resolveTrustAddress(trust: unknown): (origin: string) => unknown {
  requireThat(
    trust === undefined || typeof trust === 'function',
    'trustAddress',
    trust,
    'give a function that answers true or false',
  );
  return trust === undefined ? () => true : (trust as (origin: string) => unknown);
}

function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9][a-z0-9._-]{0,63}$/i.test(value);
}

export function requireThat(condition: boolean, option: string, value: unknown, fix: string): asserts condition {
  if (condition) return;
  throw new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${showValue(value)}; ${fix}.`, { option });
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION: options or a role in its place are the likely mistakes. */
export function requireLeasehold(leasehold: unknown): void {
  const usable = typeof leasehold === 'object' && leasehold !== null && 'get' in leasehold;
  requireThat(usable, 'leasehold', leasehold, 'give what createLeasehold() returned, before the rest');
}
