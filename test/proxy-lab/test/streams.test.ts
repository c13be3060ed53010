import { describe, expect, test } from 'vitest';
import { EventOrder } from '../src/checker/event-order.ts';
import { MessageOrder } from '../src/checker/message-order.ts';
import { spreadOf } from '../src/checker/spread.ts';
import { quantile } from '../src/quantile.ts';

const event = (number: number): string => `id: ${number}\ndata: event ${number}\n\n`;

function follow(...texts: readonly string[]): { last: number; outOfOrder: number } {
  const order = new EventOrder();
  for (const text of texts) order.take(text);
  return { last: order.last, outOfOrder: order.outOfOrder };
}

describe('events', () => {
  test('in order, however they are cut', () => {
    const all = event(1) + event(2) + event(3);
    expect(follow(...all)).toEqual({ last: 3, outOfOrder: 0 });
    expect(follow(all)).toEqual({ last: 3, outOfOrder: 0 });
  });

  test('one that is missing, twice, too early or spoilt is found', () => {
    expect(follow(event(1), event(3))).toEqual({ last: 1, outOfOrder: 1 });
    expect(follow(event(1), event(1))).toEqual({ last: 1, outOfOrder: 1 });
    expect(follow(event(2), event(1))).toEqual({ last: 1, outOfOrder: 1 });
    expect(follow('id: 1\ndata: event 2\n\n')).toEqual({ last: 0, outOfOrder: 1 });
    expect(follow(event(1).slice(0, -1))).toEqual({ last: 0, outOfOrder: 0 });
  });
});

describe('messages', () => {
  test('that come back as they were sent, and those that do not', () => {
    const order = new MessageOrder();
    for (const message of ['a', Buffer.from('b'), 'c', 'd']) order.sent(message);
    for (const message of ['a', Buffer.from('b'), 'd', 'c', 'e']) order.received(message);
    expect(order).toMatchObject({ inOrder: 2, wrong: 3 });
  });

  test('text is not taken for bytes', () => {
    const order = new MessageOrder();
    order.sent('a');
    order.received(Buffer.from('a'));
    expect(order.wrong).toBe(1);
  });
});

describe('instants in an interval', () => {
  test('spread evenly', () => {
    const instants = Array.from({ length: 101 }, (_, index) => index * 10);
    expect(spreadOf(instants, 1_000)).toEqual({ width: 1, densest: 11 / 101 });
  });

  test('all at once', () => {
    expect(spreadOf([5, 5, 6, 7], 1_000)).toEqual({ width: 0.002, densest: 1 });
    expect(spreadOf([], 1_000)).toEqual({ width: 0, densest: 0 });
  });
});

test('a quantile is a value that came about, and none of none', () => {
  expect([quantile([3, 1, 2], 0.5), quantile([3, 1, 2], 0.99), quantile([], 0.5)]).toEqual([2, 3, Number.NaN]);
});
