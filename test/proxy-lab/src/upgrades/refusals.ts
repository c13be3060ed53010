/** A way in which a holder says no to an upgrade, and what of it the client has to get. */
export interface Refusal {
  readonly name: string;
  readonly method: 'GET' | 'HEAD';
  /** What the holder writes. */
  readonly bytes: string;
  /** Many applications close after a refusal, and some forget to. */
  readonly closes: boolean;
  readonly status: number;
  /** Of the answer, as the client has to get it; null for one of the proxy's own, which has some body. */
  readonly body: string | null;
}

const BODY = 'first sign in';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKS = `5\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\n\r\n`;
const UNAUTHORIZED = 'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\n';
const FOUND = 'HTTP/1.1 302 Found\r\nLocation: /login\r\n';

const base = { method: 'GET', closes: true, status: 401, body: BODY } as const;

export const refusals: readonly Refusal[] = [
  { ...base, name: '401 with a length', bytes: `${UNAUTHORIZED}${LENGTH}\r\n${BODY}` },
  { ...base, name: '401 with a length, left open', bytes: `${UNAUTHORIZED}${LENGTH}\r\n${BODY}`, closes: false },
  { ...base, name: '401 in chunks', bytes: `${UNAUTHORIZED}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}` },
  { ...base, name: '401 to the end of the connection', bytes: `${UNAUTHORIZED}Connection: close\r\n\r\n${BODY}` },
  { ...base, name: '302', bytes: `${FOUND}Content-Length: 0\r\n\r\n`, status: 302, body: '' },
  { ...base, name: '302 without a length', bytes: `${FOUND}Connection: close\r\n\r\n`, status: 302, body: '' },
  { ...base, name: '204', bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '' },
  { ...base, name: '204, left open', bytes: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '', closes: false },
  { ...base, name: '304 with a length', bytes: `HTTP/1.1 304 Not Modified\r\n${LENGTH}\r\n`, status: 304, body: '' },
  { ...base, name: 'HEAD, 401 with a length', method: 'HEAD', bytes: `${UNAUTHORIZED}${LENGTH}\r\n`, body: '' },
  {
    ...base,
    name: 'HEAD, 302 in no chunks',
    method: 'HEAD',
    bytes: `${FOUND}Transfer-Encoding: chunked\r\n\r\n`,
    status: 302,
    body: '',
  },
  { ...base, name: 'an end without an answer', bytes: '', status: 503, body: null },
];
