/** One measured number. Every number that an issue or the documentation promises is a figure of that name's sense. */
export interface Figure {
  /** In camel case, with the condition after an `@`: `takeoverAfterStop`, `walBytesPerRenewal@1000`. */
  readonly name: string;
  readonly value: number;
  /** Such as `ms`, `bytes`, `/s`, `x` (a ratio). */
  readonly unit: string;
  /** A comparison and a number, such as `<= 250`; null when the figure is for information. */
  readonly target: string | null;
  readonly ok: boolean;
  /** Of the values whose median `value` is; absent where it is no median. */
  readonly lowest?: number;
  readonly highest?: number;
}

export interface FigureReport {
  /** The command: `demo`, `lab`, `bench:lease`. */
  readonly name: string;
  /** What to give to get the same run again; null where chance plays no part. */
  readonly seed: number | null;
  /** Version of the server; absent where there is none. */
  readonly postgres?: string;
  /** Version of Node.js, where the figures depend on it. */
  readonly node?: string;
  readonly figures: readonly Figure[];
  /** Versions of what was compared with, by package name. */
  readonly peers?: Readonly<Record<string, string>>;
  /** What failed besides the figures; one line each. */
  readonly failures?: readonly string[];
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '<=': (value, bound) => value <= bound,
  '>=': (value, bound) => value >= bound,
  '<': (value, bound) => value < bound,
  '>': (value, bound) => value > bound,
  '=': (value, bound) => value === bound,
};

/**
 * A figure whose `ok` follows from its target, so that the two cannot differ.
 *
 * @throws {TypeError} when the target is not a comparison (`<=`, `>=`, `<`, `>`, `=`) and a number.
 */
export function figure(name: string, value: number, unit: string, target: string | null = null): Figure {
  return { name, value: rounded(value), unit, target, ok: target === null || meets(value, target) };
}

/** The same with the lowest and the highest of the values that it is the median of. No target looks at them. */
export function withRange(one: Figure, values: readonly number[]): Figure {
  return { ...one, lowest: rounded(Math.min(...values)), highest: rounded(Math.max(...values)) };
}

/** NaN, the value of what was not measured, meets no target. */
function meets(value: number, target: string): boolean {
  const [, sign = '', bound] = /^(<=|>=|<|>|=) (-?\d+(?:\.\d+)?)$/.exec(target) ?? [];
  const compare = COMPARISONS[sign];
  if (compare === undefined) throw new TypeError(`The target ${JSON.stringify(target)} is not of the form "<= 250".`);
  return compare(value, Number(bound));
}

/** Four digits are more than any measurement here is good for. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(4));
}

/** Prints the report, as a table or as one line of JSON, and returns the exit code: 1 when anything is not ok. */
export function report(run: FigureReport, { json }: { readonly json: boolean }): 0 | 1 {
  const failures = run.failures ?? [];
  const ok = failures.length === 0 && run.figures.every((one) => one.ok);
  process.stdout.write(json ? `${toJson(run, ok)}\n` : toTable(run));
  return ok ? 0 : 1;
}

function toJson({ name, seed, postgres, node, figures, peers, failures = [] }: FigureReport, ok: boolean): string {
  return JSON.stringify({
    name,
    ok,
    seed,
    ...(postgres === undefined ? {} : { postgres }),
    ...(node === undefined ? {} : { node }),
    ...(peers === undefined ? {} : { peers }),
    figures,
    ...(failures.length === 0 ? {} : { failures }),
  });
}

const HEADINGS = ['figure', 'value', 'unit', 'target', '', ''] as const;

function toTable({ name, seed, postgres, node, figures, peers = {}, failures = [] }: FigureReport): string {
  const versions = {
    ...(postgres === undefined ? {} : { PostgreSQL: postgres }),
    ...(node === undefined ? {} : { node }),
    ...peers,
  };
  const compared = Object.entries(versions).map(([what, version]) => `${what} ${version}`);
  const title = [name, ...compared, ...(seed === null ? [] : [`seed ${seed}`])].join(' · ');
  const rows = figures.map((one) => [
    one.name,
    String(one.value),
    one.unit,
    one.target ?? '',
    one.ok ? 'ok' : 'MISSED',
    one.lowest === undefined ? '' : `${one.lowest} to ${one.highest}`,
  ]);
  const lines = figures.length === 0 ? [] : alignColumns([HEADINGS, ...rows]);
  return ['', title, ...lines, ...failures.map((failure) => `FAILED ${failure}`), ''].join('\n');
}

/** Numbers to the right, words to the left. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column === 1 ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd());
}
