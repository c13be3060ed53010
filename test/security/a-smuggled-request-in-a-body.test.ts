import { describe, expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { httpServer, type TestServer } from '../support/http/servers.ts';

const SMUGGLED = 'GET /m/admin HTTP/1.1\r\nHost: a\r\n\r\n';

interface Seen {
  readonly line: string;
  readonly body: string;
  readonly framing: string | undefined;
  readonly length: string | undefined;
}

/** A holder that notes each request that it would execute. */
async function noting(): Promise<{ holder: TestServer; seen: Seen[] }> {
  const seen: Seen[] = [];
  const holder = await httpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => {
      const { 'transfer-encoding': framing, 'content-length': length } = request.headers;
      seen.push({ line: `${request.method} ${request.url}`, body, framing, length });
      response.end('done');
    });
  });
  return { holder, seen };
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

onEveryHost(({ rig }) => {
  test.each(['DELETE', 'OPTIONS', 'GET', 'HEAD', 'POST', 'PROPFIND'])(
    'in the one chunk of a %s is the body of one request, which leaves in chunks',
    async (method) => {
      const { holder, seen } = await noting();
      const client = await (await rig(holder.origin)).connect();
      client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(SMUGGLED)}0\r\n\r\n`);
      expect((await client.response({ head: method === 'HEAD' })).status).toBe(200);
      // By the same connection to the holder, where what was left there would be read.
      await client.send('GET /m/next HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(seen).toMatchObject([{ line: `${method} /m`, body: SMUGGLED, framing: 'chunked' }, { line: 'GET /m/next' }]);
      expect(seen[0]?.length).toBeUndefined();
    },
  );

  test.each(['DELETE', 'OPTIONS', 'GET'])('in a %s with a length is the body of one request', async (method) => {
    const { holder, seen } = await noting();
    const client = await (await rig(holder.origin)).connect();
    client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`);
    await client.response();
    await client.send('GET /m/next HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(seen).toMatchObject([{ line: `${method} /m`, body: SMUGGLED }, { line: 'GET /m/next' }]);
  });

  describe('is nobody’s request, where two readers could disagree about the end of the body:', () => {
    const length = `Content-Length: ${SMUGGLED.length}`;
    test.each([
      ['a length and chunks', `${length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['chunks and a length', `Transfer-Encoding: chunked\r\n${length}\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['two lengths', `Content-Length: 0\r\n${length}\r\n\r\n${SMUGGLED}`],
      ['two lengths in one field', `Content-Length: 0, ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
      ['a length with a sign', `Content-Length: +${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
      ['a length in hexadecimal', `Content-Length: 0x10\r\n\r\n${SMUGGLED}`],
      ['a space before the colon', `Content-Length : ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
      ['a folded coding', `Transfer-Encoding:\r\n chunked\r\n${length}\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['a coding behind a tab in its name', `Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['a coding that is not the last', `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['a coding with a letter too many', `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
      ['a chunk size that is none', `Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n${SMUGGLED}`],
      ['a chunk size that ends in a bare line feed', `Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n${SMUGGLED}`],
      ['a bare line feed in the head', `X: 1\n${length}\r\n\r\n${SMUGGLED}`],
      ['a bare carriage return in the head', `X: 1\r${length}\r\n\r\n${SMUGGLED}`],
    ])('%s', async (_, rest) => {
      const { holder, seen } = await noting();
      const { connect, local } = await rig(holder.origin);
      const client = await connect();
      client.send(`POST /m HTTP/1.1\r\nHost: a\r\n${rest}`);
      expect([400, 501]).toContain((await client.response()).status);
      await client.untilClosed();
      expect(seen).toEqual([]);
      expect(local).toEqual([]);
    });
  });

  test('behind an early answer is still the rest of the body', async () => {
    const holder = await httpServer((request, response) => {
      if (request.url === '/m/admin') throw new Error('executed');
      response.writeHead(413, { 'Content-Length': 0 }).end();
    });
    const client = await (await rig(holder.origin)).connect();
    client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${100_000 + SMUGGLED.length}\r\n\r\n`);
    client.send(Buffer.alloc(50_000));
    expect((await client.response()).status).toBe(413);
    client.send(Buffer.alloc(50_000)).send(SMUGGLED).send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await client.response()).text).toBe('local');
    expect(client.pending).toBe('');
  });
});
