/** Compares the messages that come back with those that were sent, one by one. */
export class MessageOrder {
  readonly #waiting: (string | Buffer)[] = [];
  inOrder = 0;
  wrong = 0;

  /** So many have not come back yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  sent(message: string | Buffer): void {
    this.#waiting.push(message);
  }

  received(message: string | Buffer): void {
    const expected = this.#waiting.shift();
    if (expected !== undefined && isSame(expected, message)) this.inOrder += 1;
    else this.wrong += 1;
  }
}

function isSame(one: string | Buffer, other: string | Buffer): boolean {
  return typeof one === 'string' || typeof other === 'string' ? one === other : one.equals(other);
}
