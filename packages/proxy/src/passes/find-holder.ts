import { isLeaseholdError, resolveAddress } from '@leasehold/core';
import { isTrue } from '../ask.ts';
import type { ForwardDecision, RefuseDecision } from '../decision.ts';
import { sayForgottenStart } from '../forgotten-start.ts';
import type { ResolvedProxyOptions } from '../options.ts';
import { refuse, type RefusalReason } from '../refusal.ts';
import { HolderTarget, type ThisInstance, type HolderView } from '../target.ts';

/** Where the holder is, or why that cannot be told. What a row says is resolved once, until it says something else. */
export class HolderFinder {
  readonly #leasehold: ThisInstance;
  readonly #lease: HolderView;
  readonly #options: ResolvedProxyOptions;
  #holder: string | null = null;
  #address: string | null = null;
  #found: ForwardDecision | RefuseDecision = refuse('no-holder');

  constructor(leasehold: ThisInstance, lease: HolderView, options: ResolvedProxyOptions) {
    this.#leasehold = leasehold;
    this.#lease = lease;
    this.#options = options;
  }

  find(): ForwardDecision | RefuseDecision {
    const holder = this.#lease.currentHolder;
    if (holder === null) {
      sayForgottenStart(this.#leasehold, this.#options);
      return refuse('no-holder');
    }
    const { instance } = this.#leasehold;
    if (holder === instance.id) return refuse('self');
    const address = this.#lease.currentHolderAddress;
    if (address === null) return refuse('no-address');
    if (holder !== this.#holder || address !== this.#address) this.#resolve(holder, address);
    const found = this.#found;
    // A process that restarted has another id and the same address: the row still names its former self.
    return found.kind === 'forward' && found.target.address === instance.address ? refuse('self') : found;
  }

  #resolve(holder: string, address: string): void {
    this.#found = this.#examine(holder, address);
    this.#holder = holder;
    this.#address = address;
  }

  #examine(holder: string, address: string): ForwardDecision | RefuseDecision {
    let origin: string;
    try {
      origin = resolveAddress('the address on the row', address);
    } catch (error) {
      if (!isLeaseholdError(error)) throw error;
      return this.#refuse('no-address', { holder, error }, 'the holder advertises an address that is not an http(s) origin');
    }
    if (!this.#isTrusted(origin)) {
      return this.#refuse('address-not-trusted', { holder, address: origin }, 'trustAddress refused the address of the holder');
    }
    const target = new HolderTarget(holder, origin);
    this.#warnAboutLoopback(target);
    return { kind: 'forward', target };
  }

  #isTrusted(origin: string): boolean {
    return isTrue(this.#options.trustAddress, origin, (error) => {
      this.#options.logger.error(
        { role: this.#lease.role, address: origin, err: error },
        'trustAddress failed; the address is refused',
      );
    });
  }

  #refuse(reason: RefusalReason, fields: object, message: string): RefuseDecision {
    this.#options.logger.warn({ role: this.#lease.role, ...fields }, message);
    return refuse(reason);
  }

  /** Unless they are given labels, instances of one host share one, the host's name; a loopback address of another leads to this host. */
  #warnAboutLoopback(target: HolderTarget): void {
    if (!target.isLoopback || target.holder.startsWith(`${this.#leasehold.instance.label}-`)) return;
    this.#options.logger.warn(
      { role: this.#lease.role, holder: target.holder, address: target.address },
      'the holder has another label and advertises a loopback address; if it runs on another host, that address leads to this host',
    );
  }
}
