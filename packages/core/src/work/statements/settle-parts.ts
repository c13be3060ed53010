import { isSql } from '../sql.ts';
import type { SettleItem } from './settle-item.ts';
import { groupByShape, type Shape } from './settle-shape.ts';

/** As many rows as one statement settles: a parameter is an array, whose text should not grow without bound. */
const MOST_ROWS = 1_000;
/** Each shape is two more parts of the statement, to be planned anew each time. */
const MOST_SHAPES = 16;
/** Of fragments alone; the protocol ends at 65,535. */
const MOST_VALUES = 30_000;

/** What one statement settles. */
export interface SettlePart {
  readonly items: readonly SettleItem[];
  /** The place of each item in the whole, from 0. */
  readonly places: readonly number[];
}

interface OpenPart {
  items: SettleItem[];
  places: number[];
  shapes: number;
  values: number;
}

/** Rows of one shape stay together, so that a list of many shapes makes few statements, each of bounded size. */
export function splitByShape(items: readonly SettleItem[]): SettlePart[] {
  const parts: OpenPart[] = [];
  for (const shape of groupByShape(items).shapes) {
    for (let start = 0; start < shape.items.length;) start += addTo(parts, shape, start);
  }
  return parts;
}

/** Answers how many rows of the shape, from the given one, found room in the last part or a new one. */
function addTo(parts: OpenPart[], shape: Shape, start: number): number {
  const values = valuesOf(shape.sample);
  let part = parts.at(-1);
  if (part === undefined || part.items.length >= MOST_ROWS || part.shapes >= MOST_SHAPES || part.values + values > MOST_VALUES) {
    part = { items: [], places: [], shapes: 0, values: 0 };
    parts.push(part);
  }
  const count = Math.min(MOST_ROWS - part.items.length, shape.items.length - start);
  for (let index = start; index < start + count; index += 1) {
    part.items.push(shape.items[index] as SettleItem);
    part.places.push((shape.numbers[index] ?? 0) - 1);
  }
  part.shapes += 1;
  part.values += values;
  return count;
}

function valuesOf({ set }: SettleItem): number {
  return set.reduce((sum, [, value]) => sum + (isSql(value) ? value.values.length : 0), 0);
}
