import { describe, expect, test } from 'vitest';
import { Device, DeviceRecords, type Owner } from '../src/devices/device.ts';

const owner = (by: string, token: number): Owner => ({ by, token });

describe('a device', () => {
  const records = (): DeviceRecords => new DeviceRecords();

  test('lets in whoever has a higher token than the last one, and tells how long it had nobody', () => {
    const seen = records();
    let now = 100;
    const device = new Device('d', seen, () => now);
    const first = owner('A', 3);
    expect(device.accept(first)).toBe(true);
    now = 200;
    device.leave(first);
    expect(device.owner).toBeNull();
    now = 250;
    expect(device.accept(owner('B', 4))).toBe(true);
    expect(seen).toMatchObject({ gaps: [{ device: 'd', after: 'A', from: 200, ms: 50 }], secondConnections: 0, refused: 0 });
  });

  test('lets in its owner again, after the connection broke', () => {
    const device = new Device('d', records(), () => 0);
    const first = owner('A', 3);
    device.accept(first);
    device.leave(first);
    expect(device.accept(owner('A', 3))).toBe(true);
  });

  test('refuses a lower token, while it is connected and afterwards', () => {
    const seen = records();
    const device = new Device('d', seen, () => 0);
    const now = owner('B', 4);
    device.accept(now);
    expect(device.accept(owner('A', 3))).toBe(false);
    expect(device.owner).toBe(now);
    device.leave(now);
    expect(device.accept(owner('A', 3))).toBe(false);
    expect(seen).toMatchObject({ refused: 2, secondConnections: 0 });
  });

  test('tells of a second connection while the first is open, and executes nothing more of the first', () => {
    const seen = records();
    const device = new Device('d', seen, () => 0);
    const first = owner('A', 3);
    const second = owner('B', 4);
    device.accept(first);
    expect(device.execute(first)).toBe(true);
    device.accept(second);
    expect([device.execute(first), device.execute(second)]).toEqual([false, true]);
    device.leave(first);
    expect(device.owner).toBe(second);
    expect(seen).toMatchObject({ secondConnections: 1, strayCommands: 1 });
    expect(Object.fromEntries(seen.executed)).toEqual({ A: 1, B: 1 });
  });
});
