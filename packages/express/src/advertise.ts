import { type Leasehold, type Logger, silentLogger } from '@leasehold/core';
import { type Advertise, type ListeningServer, resolveAdvertisedAddress, validateAddress } from '@leasehold/proxy';

/**
 * What to advertise; null for nothing beyond what the Leasehold was made with.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS for a URL that is none, now and not when the server listens.
 */
export function resolveAdvertise(advertise: Advertise | undefined, leasehold: Leasehold): Advertise | null {
  if (advertise === undefined) return leasehold.instance.address === null ? 'auto' : null;
  if (advertise === 'auto' || typeof advertise === 'function') return advertise;
  return validateAddress(advertise, 'advertise');
}

/** Tells the others where this instance is. An address that cannot be had costs the forwarding to here, not the server. */
export function tellAddress(leasehold: Leasehold, what: Advertise, on: { server: ListeningServer; logger: Logger }): void {
  try {
    const address = resolveAdvertisedAddress(what, on.server);
    if (address !== null) leasehold.advertise(address);
  } catch (error) {
    sayNoAddress(on.logger, error);
  }
}

/** Without a logger the process warning has to do: otherwise nobody would know why every other instance answers 503. */
function sayNoAddress(logger: Logger, error: unknown): void {
  const message = 'no address is advertised: while this instance holds a role, nothing is forwarded to it';
  if (logger !== silentLogger) logger.error({ error }, message);
  else process.emitWarning(`${message} (${String(error)})`, { type: 'LeaseholdWarning', code: 'LEASEHOLD_INVALID_ADDRESS' });
}
