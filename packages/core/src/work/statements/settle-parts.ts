import { isSql } from '../sql.ts';
import type { SettleItem } from './settle-item.ts';
import { groupByShape, type Shape } from './settle-shape.ts';

/** As many rows as one statement settles: a parameter is an array, whose text should not grow without bound. */
const MOST_ROWS = 1_000;
/** Each shape is two more parts of the statement, to be planned anew each time. */
const MOST_SHAPES = 16;
/** Of fragments alone; the protocol ends at 65,535. */
const MOST_VALUES = 30_000;

/** What one statement settles: rows of the same shape stand together. */
export interface SettlePart {
  readonly items: readonly SettleItem[];
  /** The place of each item in the whole, from 0. */
  readonly places: readonly number[];
  /** Their numbers are of the places in this part. */
  readonly shapes: readonly Shape[];
}

interface OpenPart {
  readonly items: SettleItem[];
  readonly places: number[];
  readonly shapes: Shape[];
  values: number;
}

/** Rows of one shape stay together, so that a list of many shapes makes few statements, each of bounded size. */
export function splitByShape(items: readonly SettleItem[]): SettlePart[] {
  const parts: OpenPart[] = [];
  for (const shape of groupByShape(items)) {
    for (let start = 0; start < shape.items.length;) start += addTo(parts, shape, start);
  }
  return parts;
}

/** Answers how many rows of the shape, from the given one, found room in the last part or a new one. */
function addTo(parts: OpenPart[], shape: Shape, start: number): number {
  const values = valuesOf(shape.sample);
  let part = parts.at(-1);
  if (
    part === undefined ||
    part.items.length >= MOST_ROWS ||
    part.shapes.length >= MOST_SHAPES ||
    part.values + values > MOST_VALUES
  ) {
    part = { items: [], places: [], shapes: [], values: 0 };
    parts.push(part);
  }
  const { sample, isFinal } = shape;
  const items = shape.items.slice(start, start + MOST_ROWS - part.items.length);
  const before = part.items.length;
  part.shapes.push({
    index: part.shapes.length,
    sample,
    isFinal,
    items,
    numbers: items.map((_item, index) => before + index + 1),
  });
  for (const [index, item] of items.entries()) {
    part.items.push(item);
    part.places.push((shape.numbers[start + index] ?? 0) - 1);
  }
  part.values += values;
  return items.length;
}

/** Of a part with one shape: the items with these numbers, from 1. */
export function restOf({ items, places, shapes }: SettlePart, kept: readonly number[]): SettlePart {
  const rest = kept.flatMap((number) => items[number - 1] ?? []);
  const numbers = rest.map((_item, index) => index + 1);
  return {
    items: rest,
    places: kept.flatMap((number) => places[number - 1] ?? []),
    shapes: shapes.map((shape) => ({ ...shape, items: rest, numbers })),
  };
}

function valuesOf({ set }: SettleItem): number {
  return set.reduce((sum, [, value]) => sum + (isSql(value) ? value.values.length : 0), 0);
}
