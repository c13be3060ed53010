import { LeaseholdError } from '../../../packages/core/src/index.ts';
import type { HolderView, PartitionLeasehold } from '../../../packages/proxy/src/index.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface FakePartition extends PartitionLeasehold {
  readonly instance: Mutable<PartitionLeasehold['instance']>;
  /** `devices:partition-0` and `devices:partition-1`. */
  readonly roles: readonly [Mutable<HolderView>, Mutable<HolderView>];
  /** What was resolved, scopes included. */
  readonly resolved: string[][];
}

/** One instance's view of the partition `devices` of two roles: keys of even length belong to the first. */
export function fakePartition(id = 'app-01-aaaa'): FakePartition {
  const role = (index: number): Mutable<HolderView> => ({
    role: `devices:partition-${index}`,
    isHeld: false,
    currentHolder: null,
    currentHolderAddress: null,
    holderRemainingMs: 0,
    renewIntervalMs: 3_000,
  });
  const roles = [role(0), role(1)] as const;
  const resolved: string[][] = [];
  return {
    instance: { id, label: 'app-01', address: null },
    roles,
    resolved,
    getPartition(name) {
      if (name !== 'devices') throw new LeaseholdError('LEASEHOLD_UNKNOWN_ROLE', `No partition '${name}'.`, { role: name });
      return {
        resolve(...components: [string, string?]) {
          resolved.push(components as string[]);
          return components.join('').length % 2 === 0 ? roles[0] : roles[1];
        },
      };
    },
  };
}
