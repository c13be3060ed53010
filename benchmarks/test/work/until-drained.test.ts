import { expect, it } from 'vitest';
import { UntilDrained } from '../../src/work/until-drained.ts';

it('begins with the first handler, and ends when the database has no live row left', async () => {
  const events: string[] = [];
  const drained = new UntilDrained(3, { begin: () => events.push('begin'), end: () => events.push('end') });
  const answers = [false, false, true];
  const waiting = drained.wait(async () => {
    events.push('asked');
    return answers.shift() ?? true;
  });
  drained.handled(2);
  await Promise.resolve();
  expect(events).toEqual(['begin']);
  drained.handled();
  await waiting;
  expect(events).toEqual(['begin', 'asked', 'asked', 'asked', 'end']);
});

it('has no end while the database cannot be asked', async () => {
  const drained = new UntilDrained(1, { begin: () => {}, end: () => expect.unreachable() });
  drained.handled();
  await expect(drained.wait(() => Promise.reject(new Error('no connection')))).rejects.toThrow('no connection');
});
