import { describe, expect, test } from 'vitest';
import { type ExpectedAnswer, findMisframing } from '../src/checker/framing.ts';

const CLOSE = 'Connection: close\r\n';

function find(text: string, expected: Partial<ExpectedAnswer> = {}): string | null {
  return findMisframing(Buffer.from(text), { method: 'GET', status: 401, body: 'no', ...expected });
}

describe('an answer that is framed rightly', () => {
  test.each<[string, string, Partial<ExpectedAnswer>?]>([
    ['a length', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\n\r\nno`],
    ['chunks', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n1\r\nn\r\n1\r\no\r\n0\r\n\r\n`],
    ['to the end of the connection', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}\r\nno`],
    ['204', `HTTP/1.1 204 No Content\r\n${CLOSE}\r\n`, { status: 204 }],
    ['304 with a length', `HTTP/1.1 304 Not Modified\r\n${CLOSE}Content-Length: 2\r\n\r\n`, { status: 304 }],
    ['HEAD', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\n\r\n`, { method: 'HEAD' }],
    ['whatever body', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 3\r\n\r\nyes`, { body: null }],
  ])('%s', (_, text, expected) => {
    expect(find(text, expected)).toBeNull();
  });
});

describe('an answer that is not', () => {
  test.each<[string, string, Partial<ExpectedAnswer>?]>([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 401 Unauthorized\r\nConn'],
    ['another status', `HTTP/1.1 503 Service Unavailable\r\n${CLOSE}Content-Length: 2\r\n\r\nno`],
    ['no word of the end', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno'],
    ['a length that is not reached', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 3\r\n\r\nno`],
    ['more than its length', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\n\r\nnot`],
    ['a length and chunks', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nno`],
    ['a last chunk that is missing', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n`],
    [
      'bytes after the last chunk',
      `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\nHTTP`,
    ],
    ['another body', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\n\r\non`],
    ['204 with chunks', `HTTP/1.1 204 No Content\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n`, { status: 204 }],
    ['204 with a body', `HTTP/1.1 204 No Content\r\n${CLOSE}\r\nno`, { status: 204 }],
    ['HEAD with a body', `HTTP/1.1 401 Unauthorized\r\n${CLOSE}Content-Length: 2\r\n\r\nno`, { method: 'HEAD' }],
  ])('%s', (_, text, expected) => {
    expect(find(text, expected)).not.toBeNull();
  });
});
