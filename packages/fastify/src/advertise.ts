import type { Leasehold, Logger } from '@leasehold/core';
import { type Advertise, type ListeningServer, resolveAdvertisedAddress, validateAddress } from '@leasehold/proxy';

/** What of the plugin's options says where this instance is reached. */
export interface AddressOptions {
  readonly advertise?: Advertise;
  readonly instance?: { readonly address?: string };
}

/**
 * What to advertise; null for nothing beyond what the Leasehold was made with.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_ADDRESS for a URL that is none, now and not when the server listens.
 */
export function resolveAdvertise({ advertise, instance }: AddressOptions): Advertise | null {
  if (advertise === undefined) return instance?.address === undefined ? 'auto' : null;
  if (advertise === 'auto' || typeof advertise === 'function') return advertise;
  return validateAddress(advertise, 'advertise');
}

/** Tells the others where this instance is. An address that cannot be had costs the forwarding to here, not the server. */
export function tellAddress(leasehold: Leasehold, what: Advertise, on: { server: ListeningServer; log: Logger }): void {
  try {
    const address = resolveAdvertisedAddress(what, on.server);
    if (address !== null) leasehold.advertise(address);
  } catch (error) {
    on.log.error({ err: error }, 'no address is advertised: while this instance holds a role, nothing is forwarded to it');
  }
}
