import { expect, test } from 'vitest';
import { manualClock } from '../src/index.ts';

test('runs the timers that come due, in order, each at its own time', async () => {
  const clock = manualClock();
  const ran: string[] = [];
  const note = (name: string) => (): void => void ran.push(`${name}@${clock.monotonic()}`);
  clock.setTimer(note('late'), 30);
  clock.setTimer(note('first of two'), 10);
  clock.setTimer(note('second of two'), 10);
  clock.setTimer(note('not yet'), 31);
  await clock.advance(30);
  expect(ran).toEqual(['first of two@10', 'second of two@10', 'late@30']);
  expect(clock.pendingTimers).toBe(1);
});

test('runs timers that a timer or its promises set, within the same advance', async () => {
  const clock = manualClock();
  const ran: number[] = [];
  const tick = async (): Promise<void> => {
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    ran.push(clock.monotonic());
    clock.setTimer(() => void tick(), 10);
  };
  clock.setTimer(() => void tick(), 10);
  await clock.advance(35);
  expect(ran).toEqual([10, 20, 30]);
  expect(clock.monotonic()).toBe(35);
});

test('lets what was under way happen before the first timer', async () => {
  const clock = manualClock();
  const ran: string[] = [];
  clock.setTimer(() => ran.push('timer'), 1);
  void Promise.resolve().then(() => ran.push('promise'));
  await clock.advance(1);
  expect(ran).toEqual(['promise', 'timer']);
});

test('does not run a cancelled timer, cancelled by another timer at the same time too', async () => {
  const clock = manualClock();
  let ran = false;
  const canceller = clock.setTimer(() => victim.cancel(), 5);
  const victim = clock.setTimer(() => (ran = true), 5);
  await clock.advance(10);
  canceller.cancel();
  expect(ran).toBe(false);
  expect(clock.pendingTimers).toBe(0);
});

test('jumps like a frozen process: overdue timers run afterwards, late', async () => {
  const clock = manualClock();
  const ran: number[] = [];
  clock.setTimer(() => ran.push(clock.monotonic()), 5);
  clock.jump(100);
  expect(ran).toEqual([]);
  await clock.advance(0);
  expect(ran).toEqual([100]);
});

test('moves the wall clock with the monotonic one, and alone when told', async () => {
  const clock = manualClock({ wall: 1_000 });
  await clock.advance(10);
  clock.jump(5);
  clock.jumpWall(-500);
  expect([clock.monotonic(), clock.wall()]).toEqual([15, 515]);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses to advance by %s', async (ms) => {
  const clock = manualClock();
  await expect(clock.advance(ms)).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_DURATION' });
  expect(() => clock.jump(ms)).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_DURATION' }));
});
