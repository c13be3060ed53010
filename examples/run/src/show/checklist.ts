import { type Figure, figure } from '../../../../test/support/figures.ts';
import type { Output } from './output.ts';

/** Everything that is claimed, checked as it happens. */
export class Checklist {
  readonly figures: Figure[] = [];
  readonly failures: string[] = [];
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  check(ok: boolean, statement: string): void {
    if (!ok) this.failures.push(statement);
    this.#output.statement(ok, statement);
  }

  /** A number with its target, and the statement that contains it. A missed target fails by the figure. */
  measure(measured: Figure, statement: string): void {
    this.figures.push(measured);
    this.#output.statement(measured.ok, statement);
  }

  count(name: string, value: number, statement: string): void {
    this.measure(figure(name, value, '', '= 0'), statement);
  }
}
