import type { Leasehold, PartitionLease, RoleLease, RolePartition } from '@leasehold/core';
import type { HolderView, PartitionLeasehold, PartitionView, ProxyLeasehold, RoleLeaseView } from '@leasehold/proxy';
import { describe, expectTypeOf, test } from 'vitest';

describe('a Leasehold', () => {
  test('is all that the proxy needs, for roles and for partitions', () => {
    expectTypeOf<Leasehold>().toExtend<ProxyLeasehold>();
    expectTypeOf<RoleLease>().toExtend<RoleLeaseView>();
    expectTypeOf<Leasehold>().toExtend<PartitionLeasehold>();
    expectTypeOf<RolePartition>().toExtend<PartitionView>();
    expectTypeOf<PartitionLease>().toExtend<HolderView>();
  });
});
