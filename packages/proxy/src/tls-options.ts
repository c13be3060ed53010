import { isIP } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { LeaseholdError, showValue } from '@leasehold/core';

/** How holders with an `https` address are reached. Their certificate is always verified; there is no switch for it. */
export interface HolderTlsOptions {
  /** Certificate authorities that may sign a holder's certificate, in place of the well-known ones. */
  readonly ca?: SecureContextOptions['ca'];
  /** Certificate that this instance shows to a holder that asks for one. */
  readonly cert?: SecureContextOptions['cert'];
  /** Private key of `cert`. */
  readonly key?: SecureContextOptions['key'];
  /** Passphrase of `key`. */
  readonly passphrase?: string;
  /**
   * Name that the holders' certificates are issued for, sent as SNI. Give it when addresses are IP addresses and the
   * certificates name none.
   *
   * @default the host of the address
   */
  readonly servername?: string;
}

export interface ResolvedTls {
  readonly secureContext: SecureContext;
  readonly servername: string | undefined;
}

const KNOWN: readonly string[] = ['ca', 'cert', 'key', 'passphrase', 'servername'];

/** Reads the certificates once: for each new connection it would cost a parse, and a broken file would fail only then. */
export function resolveTls(tls: HolderTlsOptions = {}): ResolvedTls {
  if (typeof tls !== 'object' || tls === null) throw invalidTls('tls', `is ${showValue(tls)}; give an object`);
  for (const name of Object.keys(tls)) {
    if (!KNOWN.includes(name)) {
      throw invalidTls(`tls.${name}`, `is not an option; there are ${KNOWN.join(', ')}, and verification is always on`);
    }
  }
  const { servername, ...context } = tls;
  if (servername !== undefined && (typeof servername !== 'string' || servername === '' || isIP(servername) !== 0)) {
    throw invalidTls('tls.servername', `is ${showValue(servername)}; give the name in the holders' certificates`);
  }
  return { secureContext: createContext(context), servername };
}

function createContext(context: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(context);
  } catch (cause) {
    throw invalidTls('tls', 'holds a certificate or key that cannot be used; give PEM text that belongs together', cause);
  }
}

function invalidTls(option: string, problem: string, cause?: unknown): LeaseholdError {
  const details = cause === undefined ? { option } : { option, cause };
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} ${problem}.`, details);
}
