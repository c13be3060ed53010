import { type Leasehold, type Logger, silentLogger } from '@leasehold/core';
import { type Advertise, type ListeningServer, resolveAdvertisedAddress, validateAddress } from '../address.ts';

/**
 * The option of an adapter; null where it is left out.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS for a URL that is none, now and not when the server listens.
 */
export function resolveAdvertise(advertise: Advertise | undefined): Advertise | null {
  if (advertise === undefined) return null;
  if (advertise === 'auto' || typeof advertise === 'function') return advertise;
  return validateAddress(advertise, 'advertise');
}

/**
 * Tells the others where this instance is, once the server listens: where `what` says, or where the server listens unless an
 * address is known already. One that cannot be had costs the forwarding to here, not the server.
 */
export function tellAddress(
  leasehold: Pick<Leasehold, 'advertise' | 'instance'>,
  what: Advertise | null,
  on: { readonly server: ListeningServer; readonly logger: Logger },
): void {
  if (what === null && leasehold.instance.address !== null) return;
  try {
    const address = resolveAdvertisedAddress(what ?? 'auto', on.server);
    if (address !== null) leasehold.advertise(address);
  } catch (error) {
    sayNoAddress(on.logger, error);
  }
}

/** Without a logger the process warning has to do: otherwise nobody would know why every other instance answers 503. */
function sayNoAddress(logger: Logger, error: unknown): void {
  const message = 'no address is advertised: while this instance holds a role, nothing is forwarded to it';
  if (logger !== silentLogger) logger.error({ err: error }, message);
  else process.emitWarning(`${message} (${String(error)})`, { type: 'LeaseholdWarning', code: 'LEASEHOLD_INVALID_ADDRESS' });
}
