/** Dropped places that are kept before the rest moves up: `shift()` of a long array would move all of it each time. */
const MOST_DROPPED = 1_024;

/** First in, first out. */
export class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#first] as T;
    // What was taken must not be kept alive by the place where it waited.
    this.#items[this.#first] = undefined as T;
    this.#first += 1;
    if (this.#first === this.#items.length || this.#first > MOST_DROPPED) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  takeAll(): T[] {
    const items = this.#items.slice(this.#first);
    this.#items = [];
    this.#first = 0;
    return items;
  }
}
