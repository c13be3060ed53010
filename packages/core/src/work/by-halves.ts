import { isRefusal } from '../postgres/errors.ts';

export interface ByHalves<Item> {
  readonly write: (part: readonly Item[]) => Promise<void>;
  /** Hears of an item that is refused by itself. */
  readonly refuse: (item: Item, error: unknown) => void;
  readonly isOver: () => boolean;
}

/** Writes all that can be written, in its order: what is refused as a whole is tried in halves. Any other failure ends it. */
export async function byHalves<Item>(items: readonly Item[], { write, refuse, isOver }: ByHalves<Item>): Promise<void> {
  const parts = [items];
  for (let part = parts.pop(); part !== undefined && part.length > 0 && !isOver(); part = parts.pop()) {
    try {
      await write(part);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [first, ...others] = part;
      if (first === undefined || others.length === 0) {
        if (first !== undefined) refuse(first, error);
        continue;
      }
      const half = Math.ceil(part.length / 2);
      parts.push(part.slice(half), part.slice(0, half));
    }
  }
}
