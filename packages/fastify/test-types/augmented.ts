/** A program of its own: an augmentation holds for a whole program, and the tests beside this one have other roles. */
import { partitionHolderProxy, roleHolderProxy, roleLeasePlugin } from '@leasehold/fastify';
import Fastify from 'fastify';

declare module '@leasehold/fastify' {
  interface RegisteredRoles {
    maintenance: true;
    [partition: `devices:partition-${number}`]: true;
  }

  interface RegisteredPartitions {
    devices: true;
    orders: true;
  }
}

const app = Fastify();

app.roleLeases.get('maintenance');
app.roleLeases.get('devices:partition-7');
// @ts-expect-error -- misspelt
app.roleLeases.get('maintenanc');
// @ts-expect-error -- not a number
app.roleLeases.get('devices:partition-x');
// @ts-expect-error -- misspelt
app.roleLeases.has('maintenanc');

app.register(roleLeasePlugin, { roles: ['maintenance', { name: 'devices:partition-0', maxHold: '1h' }] });
// @ts-expect-error -- misspelt
app.register(roleLeasePlugin, { roles: ['maintenanc'] });
// @ts-expect-error -- misspelt
app.register(roleLeasePlugin, { roles: [{ name: 'maintenanc' }] });

app.register(roleHolderProxy, { role: 'maintenance', prefixes: ['/maintenance'] });
// @ts-expect-error -- misspelt
app.register(roleHolderProxy, { role: 'maintenanc', prefixes: ['/maintenance'] });

app.requireRole('devices:partition-7');
// @ts-expect-error -- misspelt
app.requireRole('maintenanc');
app.get('/jobs', { config: { role: 'maintenance' } }, async () => []);
app.get('/jobs', { config: { role: 'devices:partition-7', other: 1 } }, async () => []);
// @ts-expect-error -- misspelt
app.get('/jobs', { config: { role: 'maintenanc' } }, async () => []);
// @ts-expect-error -- misspelt
app.route({ method: 'GET', url: '/jobs', config: { role: 'maintenanc' }, handler: async () => [] });

app.rolePartitions.get('devices');
// @ts-expect-error -- misspelt
app.rolePartitions.get('device');
// @ts-expect-error -- misspelt
app.rolePartitions.has('device');
app.requirePartition('orders', () => 'key');
// @ts-expect-error -- misspelt
app.requirePartition('device', () => 'key');
app.register(roleLeasePlugin, { partitions: { devices: { count: 16 } } });
// @ts-expect-error -- misspelt
app.register(roleLeasePlugin, { partitions: { device: { count: 16 } } });
// @ts-expect-error -- not without options
app.register(roleLeasePlugin, { partitions: { devices: undefined } });
app.register(partitionHolderProxy, { partition: 'devices', affinityKey: () => 'key', prefixes: ['/devices'] });
// @ts-expect-error -- misspelt
app.register(partitionHolderProxy, { partition: 'device', affinityKey: () => 'key', prefixes: ['/devices'] });

// What takes any name is left to: roles that are only known at run time.
app.leasehold.get('another');
app.leasehold.getPartition('another');
