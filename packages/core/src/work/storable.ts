/** What PostgreSQL keeps in place of what it cannot keep. */
const REPLACEMENT = '\u{FFFD}';
const CUT = '…';

export interface StorableTextOptions {
  /** In UTF-16 units, so that it fits a `varchar` of as many characters; a longer text is cut. @default no limit; 2,000 for `errorText` */
  readonly maxLength?: number;
}

/**
 * The text with what PostgreSQL refuses in `text` and `jsonb` replaced: `\u0000`, and halves of surrogate pairs. The
 * statement that records a failure would otherwise fail of the failure's own text.
 */
export function storableText(text: string, options: StorableTextOptions = {}): string {
  const { maxLength = Number.POSITIVE_INFINITY } = options;
  const kept = text.length > maxLength ? cut(text, maxLength) : text;
  return kept.replaceAll('\0', REPLACEMENT).toWellFormed();
}

/** Not through the middle of a pair: its half would have to be replaced. */
function cut(text: string, maxLength: number): string {
  const end = Math.max(Math.floor(maxLength) - CUT.length, 0);
  const splits =
    /[\uD800-\uDBFF]$/.test(text.slice(Math.max(end - 1, 0), end)) && /^[\uDC00-\uDFFF]/.test(text.slice(end, end + 1));
  return (text.slice(0, splits ? end - 1 : end) + CUT).slice(0, Math.max(Math.floor(maxLength), 0));
}

const USUAL_LENGTH = 2_000;
const LONGEST_CHAIN = 5;
const MOST_OF_AGGREGATE = 3;

/**
 * A short text of whatever was thrown, fit to be stored: name, message and code, and those of its causes.
 *
 * It never throws, whatever was thrown: `null`, a `Proxy` that refuses, a getter that throws.
 *
 * @param options maxLength: @default 2,000
 *
 * @example
 * 'TypeError: fetch failed; caused by Error: connect ECONNREFUSED 10.0.0.7:443 (ECONNREFUSED)'
 */
export function errorText(error: unknown, options: StorableTextOptions = {}): string {
  const { maxLength = USUAL_LENGTH } = options;
  const texts: string[] = [];
  let current = error;
  for (let depth = 0; depth < LONGEST_CHAIN; depth += 1) {
    texts.push(describe(current, maxLength));
    current = read(current, 'cause');
    if (current === undefined || current === null) break;
  }
  return storableText(texts.join('; caused by '), { maxLength });
}

function describe(error: unknown, maxLength: number): string {
  if (typeof error === 'string') return error.slice(0, maxLength);
  const message = textOf(read(error, 'message'), maxLength) ?? '';
  const inner = message === '' ? describeInner(error, maxLength) : '';
  const name = textOf(read(error, 'name'), maxLength);
  const code = textOf(read(error, 'code'), maxLength);
  if (message === '' && inner === '' && name === undefined) return show(error, maxLength);
  const said = message + inner;
  const text = [name, said].filter((part) => part !== undefined && part !== '').join(': ');
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}

/** An AggregateError, of a host name with several addresses for one, has often no message of its own. */
function describeInner(error: unknown, maxLength: number): string {
  const errors = read(error, 'errors');
  const count = Math.min(Number(read(errors, 'length')) || 0, MOST_OF_AGGREGATE);
  const texts = Array.from({ length: Math.max(count, 0) }, (_, index) => read(errors, String(index)));
  return texts.map((one) => textOf(read(one, 'message'), maxLength) ?? show(one, maxLength)).join('; ');
}

/** Undefined too when the property is there and refuses. */
function read(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value === 'string') return value.slice(0, maxLength);
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

function show(value: unknown, maxLength: number): string {
  try {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
    return (typeof text === 'string' ? text : typeof value).slice(0, maxLength);
  } catch {
    return `a thrown ${typeof value} that cannot be shown`;
  }
}
