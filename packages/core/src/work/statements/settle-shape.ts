import { isSql } from '../sql.ts';
import type { SettleItem } from './settle-item.ts';

/** Rows that one `update` writes: with the same outcome, columns and fragments. Their values may differ. */
export interface Shape {
  readonly index: number;
  readonly sample: SettleItem;
  readonly items: readonly SettleItem[];
  /** The places of the items in the whole, from 1. */
  readonly numbers: readonly number[];
  /** The row is not to be worked on any more. */
  readonly isFinal: boolean;
}

export function groupByShape(items: readonly SettleItem[]): readonly Shape[] {
  const shapes = new Map<string, OpenShape>();
  const nameOf = objectNames();
  let shape: OpenShape | undefined;
  for (const [place, item] of items.entries()) {
    if (shape === undefined || !isPlainlyLike(shape.sample, item)) {
      const key = shapeKey(item, nameOf);
      shape = shapes.get(key) ?? newShape(item, shapes.size);
      shapes.set(key, shape);
    }
    shape.items.push(item);
    shape.numbers.push(place + 1);
  }
  return [...shapes.values()];
}

interface OpenShape extends Shape {
  readonly items: SettleItem[];
  readonly numbers: number[];
}

function newShape(sample: SettleItem, index: number): OpenShape {
  return { index, sample, items: [], numbers: [], isFinal: sample.outcome === 'done' || sample.outcome === 'bury' };
}

/** Nearly all rows are like the one before, in that they are done and nothing else is written. */
function isPlainlyLike(a: SettleItem, b: SettleItem): boolean {
  return a.outcome === 'done' && b.outcome === 'done' && a.set.length === 0 && b.set.length === 0;
}

type NameOf = (value: unknown) => string;

/** Objects are told apart by being another object: no text of theirs tells all of it, and one row would be given another's value. */
function objectNames(): NameOf {
  const names = new Map<unknown, number>();
  return (value) => {
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
    const name = names.get(value) ?? names.size;
    names.set(value, name);
    return `object ${name}`;
  };
}

function shapeKey({ outcome, after, refund, reason, set }: SettleItem, nameOf: NameOf): string {
  if (set.length === 0 && reason === null) return `${outcome} ${after instanceof Date} ${refund}`;
  const columns = set.map(([column, value]) => (isSql(value) ? [column, value.strings, value.values.map(nameOf)] : column));
  return JSON.stringify([outcome, after instanceof Date, refund, reason, columns]);
}
