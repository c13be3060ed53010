import { isSql } from '../sql.ts';
import type { SettleItem } from './settle-item.ts';
import { groupByShape, type Shape } from './settle-shape.ts';

/** As many rows as one statement settles: a parameter is an array, whose text should not grow without bound. */
const MOST_ROWS = 1_000;
/** Each shape is two more parts of the statement, to be planned anew each time. */
const MOST_SHAPES = 16;
/** Of fragments alone; the protocol ends at 65,535. */
const MOST_VALUES = 30_000;
/** Of text and the like, in characters: a JSON object of PostgreSQL's ends at 256 MiB, a string of Node's at 512. */
const MOST_CHARACTERS = 16_000_000;
/** How deep into values the characters are counted, which may go in a circle. */
const MOST_DEPTH = 4;

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
  characters: number;
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
    part.values + values > MOST_VALUES ||
    part.characters + charactersOf(shape.items[start]) > MOST_CHARACTERS
  ) {
    part = { items: [], places: [], shapes: [], values: 0, characters: 0 };
    parts.push(part);
  }
  const { sample, isFinal } = shape;
  const items = takeInto(part, shape.items.slice(start, start + MOST_ROWS - part.items.length));
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

/** The first of the items, as many as the part has room for; one at least. */
function takeInto(part: OpenPart, items: readonly SettleItem[]): readonly SettleItem[] {
  const end = items.findIndex((item, index) => {
    const characters = charactersOf(item);
    if (index > 0 && part.characters + characters > MOST_CHARACTERS) return true;
    part.characters += characters;
    return false;
  });
  return end === -1 ? items : items.slice(0, end);
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

function charactersOf(item: SettleItem | undefined): number {
  return item?.set.reduce((sum, [, value]) => sum + (isSql(value) ? 0 : sizeOf(value, 0)), 0) ?? 0;
}

function sizeOf(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length * 2;
  if (typeof value !== 'object' || value === null || depth === MOST_DEPTH) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + sizeOf(one, depth + 1), 0);
}
