import { expect, onTestFinished, test } from 'vitest';
import { DevicePark } from '../src/devices/device-park.ts';
import { DeviceSession, type Gateway } from '../src/device-session.ts';

async function openPark(): Promise<{ park: DevicePark; gateway: Gateway }> {
  const park = new DevicePark(['device-1', 'device-2']);
  const gateway = { host: '127.0.0.1', port: await park.open() };
  onTestFinished(() => park.close());
  return { park, gateway };
}

test('a session sends commands, and closes when the device has let go', async () => {
  const { park, gateway } = await openPark();
  const session = await DeviceSession.open(gateway, { device: 'device-1', by: 'A', token: 1 });
  expect([park.connected(), park.connected('A'), park.connected('B')]).toEqual([1, 1, 0]);
  expect(await session.send('restart')).toBe(true);
  expect(park.records.executed.get('A')).toBe(1);
  await session.close();
  expect(park.connected()).toBe(0);
  expect(await session.send('too late')).toBe(false);
});

test('a device that has seen a higher token lets nobody in with a lower one', async () => {
  const { park, gateway } = await openPark();
  const session = await DeviceSession.open(gateway, { device: 'device-1', by: 'B', token: 2 });
  await expect(DeviceSession.open(gateway, { device: 'device-1', by: 'A', token: 1 })).rejects.toThrow('token 1');
  expect([park.connected('B'), park.records.refused, park.records.secondConnections]).toEqual([1, 1, 0]);
  await session.close();
});

test('a command that is under way when the device goes is told to be not executed', async () => {
  const { park, gateway } = await openPark();
  const session = await DeviceSession.open(gateway, { device: 'device-2', by: 'A', token: 1 });
  const closed = park.close();
  expect(await session.send('restart')).toBe(false);
  await closed;
});

test('an unknown device, and a place where nobody listens, are errors', async () => {
  const { park, gateway } = await openPark();
  await expect(DeviceSession.open(gateway, { device: 'none', by: 'A', token: 1 })).rejects.toThrow('none');
  const elsewhere = new DevicePark([]);
  const port = await elsewhere.open();
  await elsewhere.close();
  await expect(DeviceSession.open({ ...gateway, port }, { device: 'device-1', by: 'A', token: 1 })).rejects.toThrow('device-1');
  expect(park.connected()).toBe(0);
});
