/** Follows the events of one stream, numbered from 1: none may be missing, none may come twice or too early. */
export class EventOrder {
  #text = '';
  #last = 0;
  #outOfOrder = 0;

  take(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n\n'); end !== -1; end = this.#text.indexOf('\n\n')) {
      this.#event(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
    }
  }

  /** The number of the last event that came in order. */
  get last(): number {
    return this.#last;
  }

  get outOfOrder(): number {
    return this.#outOfOrder;
  }

  /** The next numbering begins at 1 again. */
  restart(): void {
    this.#last = 0;
  }

  #event(event: string): void {
    const number = Number(/^id: (\d+)\ndata: event \1$/.exec(event)?.[1]);
    if (number === this.#last + 1) this.#last = number;
    else this.#outOfOrder += 1;
  }
}
