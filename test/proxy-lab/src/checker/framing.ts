export interface ExpectedAnswer {
  readonly method: 'GET' | 'HEAD';
  readonly status: number;
  /** Null for whatever it says. */
  readonly body: string | null;
}

/**
 * What is wrong with all the bytes that a connection brought until it was closed, which have to be one answer, framed
 * rightly to the last byte, that says that the connection ends; null when nothing is.
 */
export function findMisframing(bytes: Buffer, { method, status, body }: ExpectedAnswer): string | null {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return `no whole head: ${JSON.stringify(text.slice(0, 100))}`;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const rest = text.slice(end + 4);
  if (!first.startsWith(`HTTP/1.1 ${status} `)) return `'${first}' in place of ${status}`;
  const fields = new Fields(lines);
  if (fields.get('connection')?.toLowerCase() !== 'close') return 'nothing says that the connection ends';
  if (fields.has('content-length') && fields.has('transfer-encoding')) return 'a length and chunks';
  if (method === 'HEAD' || status === 204 || status === 304) return withoutBody(rest, status, fields);
  const read = readBody(rest, fields);
  if (read === null) return `a body that is not framed: ${JSON.stringify(rest.slice(-100))}`;
  return body === null || read === body ? null : `the body ${JSON.stringify(read)}`;
}

function withoutBody(rest: string, status: number, fields: Fields): string | null {
  if (rest !== '') return `bytes after an answer without a body: ${JSON.stringify(rest.slice(0, 100))}`;
  const framed = fields.has('content-length') || fields.has('transfer-encoding');
  return status === 204 && framed ? 'a 204 with framing' : null;
}

/** Null when the bytes are not exactly one body. */
function readBody(rest: string, fields: Fields): string | null {
  if (fields.get('transfer-encoding') === 'chunked') return readChunks(rest);
  const length = fields.get('content-length');
  return length === undefined || rest.length === Number(length) ? rest : null;
}

function readChunks(rest: string): string | null {
  let body = '';
  let at = 0;
  for (;;) {
    const [line, digits = ''] = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at)) ?? [];
    if (line === undefined) return null;
    const size = Number.parseInt(digits, 16);
    at += line.length;
    if (size === 0) return rest.slice(at) === '\r\n' ? body : null;
    body += rest.slice(at, at + size);
    if (rest.slice(at + size, at + size + 2) !== '\r\n') return null;
    at += size + 2;
  }
}

class Fields {
  readonly #fields: ReadonlyMap<string, string>;

  constructor(lines: readonly string[]) {
    this.#fields = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
  }

  get(name: string): string | undefined {
    return this.#fields.get(name);
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }
}
