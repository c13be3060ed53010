import { expect, it } from 'vitest';
import { createTermSignal } from '../../src/lease/term-signal.ts';

it('aborts itself before it answers, once its end has come', () => {
  const controller = new AbortController();
  let ended = false;
  const signal = createTermSignal(controller, () => {
    if (ended) controller.abort('over');
  });
  expect(signal.aborted).toBe(false);
  signal.throwIfAborted();
  ended = true;
  expect(signal.reason).toBe('over');
  expect(signal.aborted).toBe(true);
  expect(() => signal.throwIfAborted()).toThrow('over');
});

it('is an AbortSignal for whoever takes one', () => {
  const controller = new AbortController();
  const signal = createTermSignal(controller, () => {});
  expect(signal).toBeInstanceOf(AbortSignal);
  const both = AbortSignal.any([signal, new AbortController().signal]);
  controller.abort('over');
  expect(both.reason).toBe('over');
});

it('has no accessors of its own, which would keep what it is about beyond its time', () => {
  const signal = createTermSignal(new AbortController(), () => {});
  const own = Object.values(Object.getOwnPropertyDescriptors(signal));
  expect(own.filter(({ get }) => get !== undefined)).toEqual([]);
});
