import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createLeasehold,
  type Leasehold,
  type LeaseholdOptions,
  type RoleLease,
  type RoleOptions,
  type TermLostMessage,
  type TermMessage,
} from '@leasehold/core';
import { onTestFinished } from 'vitest';
import { type ManualClock, manualClock } from '../../../testing/src/manual-clock.ts';
import { ScriptedStore } from './scripted-store.ts';

export interface ScriptedLease {
  readonly clock: ManualClock;
  readonly store: ScriptedStore;
  readonly leasehold: Leasehold;
  readonly lease: RoleLease;
  readonly acquired: TermMessage[];
  readonly lost: TermLostMessage[];
}

export interface ScriptedOptions extends LeaseholdOptions {
  readonly role?: RoleOptions;
}

/** One instance with the role `r` on a scripted store, with the default timing: lease 15 s, interval 5 s, margin 2 s, window 13 s. No jitter. */
export function scriptedLease({ role = {}, ...options }: ScriptedOptions = {}): ScriptedLease {
  const clock = manualClock();
  const store = new ScriptedStore();
  const leasehold = createLeasehold({
    store,
    clock,
    random: () => 0,
    startup: 'background',
    instance: { label: 'me' },
    ...options,
  });
  const lease = leasehold.role('r', role);
  const acquired: TermMessage[] = [];
  const lost: TermLostMessage[] = [];
  listen('leasehold:lease.acquired', leasehold, acquired);
  listen('leasehold:lease.lost', leasehold, lost);
  return { clock, store, leasehold, lease, acquired, lost };
}

/** The same, started and holding under token 1, the heartbeat sent at monotonic time 0. */
export async function heldLease(options: ScriptedOptions = {}): Promise<ScriptedLease> {
  const scripted = scriptedLease(options);
  await scripted.leasehold.start();
  await scripted.clock.advance(0);
  scripted.store.grant(1n);
  await scripted.clock.advance(0);
  return scripted;
}

function listen(name: string, leasehold: Leasehold, into: TermMessage[]): void {
  const onMessage = (message: unknown): void => {
    const told = message as TermMessage;
    if (told.instance === leasehold.instance.id) into.push(told);
  };
  subscribe(name, onMessage);
  onTestFinished(() => void unsubscribe(name, onMessage));
}
