import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import https from 'node:https';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy, type RoleHolderProxyOptions, type RoleLeaseView } from '../src/index.ts';
import { createAuthority } from '../../../test/support/http/certificates.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { forwardedTo } from '../../../test/support/http/published.ts';
import { httpServer, listen, rawHolder, unusedOrigin } from '../../../test/support/http/servers.ts';

interface Options extends Partial<RoleHolderProxyOptions> {
  readonly lease?: Partial<RoleLeaseView>;
  readonly before?: (response: http2.Http2ServerResponse) => void;
}

/** A front instance that speaks HTTP/2, and a client's session with it. */
async function rig(holderOrigin: string | null, { lease, before, ...options }: Options = {}) {
  const leasehold = fakeLeasehold({ ...heldBy(holderOrigin), ...lease });
  const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'], ...options });
  const server = http2.createServer((request, response) => {
    before?.(response);
    proxy.handle(request, response, () => response.end('local'));
  });
  const front = await listen(server);
  const session = http2.connect(front.origin);
  session.on('error', () => {});
  onTestFinished(() => {
    session.destroy();
    proxy.close();
  });
  return { session, leasehold, proxy };
}

interface Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number };
  readonly interim: IncomingHttpHeaders[];
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number | undefined;
}

function collect(stream: ClientHttp2Stream): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const interim: IncomingHttpHeaders[] = [];
  const chunks: Buffer[] = [];
  let headers = {};
  let trailers = {};
  stream.on('headers', (fields) => interim.push(fields));
  stream.on('response', (fields) => (headers = fields));
  stream.on('trailers', (fields) => (trailers = fields));
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  stream.on('close', () => resolve({ headers, interim, trailers, body: Buffer.concat(chunks), rstCode: stream.rstCode }));
  return promise;
}

function ask(session: ClientHttp2Session, fields: http2.OutgoingHttpHeaders = {}, body?: string): Promise<Answer> {
  const stream = session.request({ ':path': '/m', ...fields }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return collect(stream);
}

describe('requests of HTTP/2', () => {
  test('arrive as HTTP/1.1, with what HTTP/2 says otherwise', async () => {
    const holder = await rawHolder((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const { session } = await rig(holder.origin);
    const answer = await ask(session, {
      ':authority': 'app.test',
      ':path': '/m/%41?b',
      cookie: ['a=1', 'b=2'],
      'x-one': 'caf\xe9',
      te: 'trailers',
    });
    expect([answer.headers[':status'], String(answer.body)]).toEqual([200, 'ok']);
    expect(holder.received().split('\r\n')).toEqual([
      'GET /m/%41?b HTTP/1.1',
      'Leasehold-Hop: maintenance;app-01-aaaa;0',
      'Host: app.test',
      'x-one: caf\xe9',
      'cookie: a=1; b=2',
      'TE: trailers',
      'Connection: TE',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: app.test',
      'Via: 2.0 leasehold',
      '',
      '',
    ]);
  });

  test.each([
    ['without a length', {}, 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ['with a length', { 'content-length': 5 }, 'content-length: 5', 'hello'],
  ])('a body %s keeps its end', async (_, fields, framing, body) => {
    const holder = await rawHolder((socket) => {
      const answer = (): void => void socket.write('HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n');
      setImmediate(answer);
    });
    const { session } = await rig(holder.origin);
    const answer = await ask(session, { ':method': 'DELETE', ...fields }, 'hello');
    expect(answer.headers[':status']).toBe(201);
    expect(holder.received().toLowerCase()).toContain(`\r\n${framing.toLowerCase()}\r\n`);
    await vi.waitFor(() => expect(holder.received().endsWith(`\r\n\r\n${body}`)).toBe(true));
  });

  test('large bodies pass in both directions', async () => {
    const holder = await httpServer((request, response) => request.pipe(response));
    const { session } = await rig(holder.origin);
    const body = 'b'.repeat(5_000_000);
    const answer = await ask(session, { ':method': 'POST' }, body);
    expect(String(answer.body) === body).toBe(true);
  });

  test('what is held here is local, and what is not under a prefix', async () => {
    const { session, leasehold } = await rig('http://127.0.0.1:1');
    expect(String((await ask(session, { ':path': '/m2' })).body)).toBe('local');
    leasehold.lease.isHeld = true;
    expect(String((await ask(session)).body)).toBe('local');
  });

  test('a body that something has read: 500', async () => {
    const leasehold = fakeLeasehold(heldBy('http://127.0.0.1:1'));
    const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
    const server = http2.createServer((request, response) => {
      request.resume().on('end', () => proxy.handle(request, response, () => {}));
    });
    const session = http2.connect((await listen(server)).origin);
    onTestFinished(() => session.destroy());
    expect((await ask(session, { ':method': 'POST' }, 'x')).headers[':status']).toBe(500);
  });
});

describe('answers to HTTP/2', () => {
  test('keep duplicates and bytes, and lose what is of one hop', async () => {
    const fields =
      'Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-L: caf\xe9\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n';
    const holder = await rawHolder((socket) => socket.end(Buffer.from(`HTTP/1.1 200 Fine\r\n${fields}\r\nhello`, 'latin1')));
    const { session } = await rig(holder.origin, { before: (response) => response.setHeader('vary', 'Origin') });
    const warned = vi.spyOn(process, 'emitWarning');
    onTestFinished(() => warned.mockRestore());
    const { headers, body } = await ask(session);
    expect(headers).toMatchObject({ ':status': 200, 'set-cookie': ['a=1', 'b=2'], 'x-l': 'caf\xe9', vary: 'Origin' });
    expect(Object.keys(headers).filter((name) => /hop|alive|connection|encoding/.test(name))).toEqual([]);
    expect(String(body)).toBe('hello');
    expect(warned).not.toHaveBeenCalled();
  });

  test('interim answers and trailers pass', async () => {
    const holder = await rawHolder((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n');
      socket.write(
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Sum: 8\r\n\r\n',
      );
    });
    const { session } = await rig(holder.origin);
    const answer = await ask(session);
    expect(answer.interim).toMatchObject([{ ':status': 103, link: '</a>, </b>' }]);
    expect(answer.interim[0]).not.toHaveProperty('x-hop');
    expect(answer.headers).toMatchObject({ ':status': 200, trailer: 'X-Sum' });
    expect(answer.trailers['x-sum']).toBe('7, 8');
  });

  test.each(['__proto__', 'constructor', 'ETag'])('a field of any name may come twice, in any part: %s', async (name) => {
    const fields = `${name}: 1\r\n${name}: 2\r\n`;
    const holder = await rawHolder((socket) => {
      socket.write(`HTTP/1.1 103 Early Hints\r\n${fields}\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${fields}\r\n`);
      socket.write(`2\r\nok\r\n0\r\n${fields}\r\n`);
    });
    const { session } = await rig(holder.origin);
    const { headers, interim, trailers, body } = await ask(session);
    expect([headers[':status'], String(body)]).toEqual([200, 'ok']);
    expect(
      [interim[0], headers, trailers].map((part) => Object.entries(part ?? {}).find(([key]) => key === name.toLowerCase())?.[1]),
    ).toEqual(['1, 2', '1, 2', '1, 2']);
  });

  test.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', { ':status': 200, 'content-length': '5' }],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', { ':status': 204 }],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', { ':status': 304, etag: '"a"' }],
  ])('without a body: %s %j', async (method, bytes, headers) => {
    const holder = await rawHolder((socket) => socket.write(bytes));
    const { session } = await rig(holder.origin);
    const answer = await ask(session, { ':method': method });
    expect(answer).toMatchObject({ headers, rstCode: 0 });
    expect(answer.body).toHaveLength(0);
  });

  test('a stream comes as it is sent, its head at once', async () => {
    let push: (text: string) => void = () => {};
    const holder = await httpServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      push = (text) => void response.write(text);
    });
    const { session } = await rig(holder.origin);
    const stream = session.request({ ':path': '/m' });
    let text = '';
    const head = vi.fn<() => void>();
    stream.on('response', head).on('data', (chunk) => (text += String(chunk)));
    await vi.waitFor(() => expect(head).toHaveBeenCalled());
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      push(event);
      await vi.waitFor(() => expect(text.endsWith(event)).toBe(true));
    }
    stream.close();
  });

  test.each([
    ['no-holder', async () => null, {}, 503],
    ['unreachable', unusedOrigin, {}, 503],
    ['failover', unusedOrigin, { 'leasehold-hop': 'a;b;0' }, 503],
  ])('a refusal is a problem: %s', async (reason, holder, fields, status) => {
    const { session } = await rig(await holder(), reason === 'no-holder' ? { lease: { currentHolder: null } } : {});
    const answer = await ask(session, fields);
    expect(answer.headers).toMatchObject({ ':status': status, 'content-type': 'application/problem+json' });
    expect(JSON.parse(String(answer.body))).toMatchObject({ reason });
  });

  test('a redirect', async () => {
    const { session } = await rig('http://app-02:1', { mode: 'redirect', instanceHeader: 'X-Served-By' });
    const { headers } = await ask(session, { ':method': 'POST' }, 'body');
    expect(headers).toMatchObject({ ':status': 307, location: 'http://app-02:1/m', 'x-served-by': 'app-01-aaaa' });
  });
});

test('one secure server for both versions', async () => {
  const authority = createAuthority();
  const seen: string[] = [];
  const holder = await httpServer((request, response) => {
    seen.push(`${String(request.headers.via)} ${String(request.headers['x-forwarded-proto'])}`);
    response.end('ok');
  });
  const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
  onTestFinished(() => proxy.close());
  const options = { ...authority.issue(['IP:127.0.0.1']), allowHTTP1: true };
  const server = http2.createSecureServer(options, (request, response) => proxy.handle(request, response, () => {}));
  const front = await listen(server, 'https');
  const session = http2.connect(front.origin, { ca: authority.cert });
  onTestFinished(() => session.destroy());
  expect(String((await ask(session)).body)).toBe('ok');
  const status = await new Promise((resolve, reject) => {
    const request = https.get(`${front.origin}/m`, { ca: authority.cert, agent: false }, (answer) =>
      resolve(answer.resume().statusCode),
    );
    request.on('error', reject);
  });
  expect([status, seen]).toEqual([200, ['2.0 leasehold https', '1.1 leasehold https']]);
});

describe('breaks', () => {
  test.each([
    ['with chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['that only the end of its connection ends', 'HTTP/1.1 200 OK\r\n\r\nhalf'],
  ])('a half answer %s is a reset of its stream, and of no other', async (_, bytes) => {
    const holder = await rawHolder((socket) => void socket.write(bytes, () => socket.resetAndDestroy()));
    const { session, leasehold } = await rig(holder.origin);
    const messages = forwardedTo(holder);
    const answer = await ask(session);
    expect([answer.headers[':status'], answer.rstCode]).toEqual([200, http2.constants.NGHTTP2_INTERNAL_ERROR]);
    expect(messages).toMatchObject([{ outcome: 'truncated' }]);
    leasehold.lease.isHeld = true;
    expect(String((await ask(session)).body)).toBe('local');
  });

  test.each([
    ['before the answer', ''],
    ['in the middle of it', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('a client that leaves %s leaves the holder at once', async (when, bytes) => {
    const holder = await rawHolder((socket) => socket.write(bytes));
    const { session, proxy } = await rig(holder.origin, { maxInFlight: 1 });
    const messages = forwardedTo(holder);
    const stream = session.request({ ':path': '/m' });
    stream.on('error', () => {}).resume();
    if (bytes === '') await vi.waitFor(() => expect(holder.received()).toContain('Via'));
    else await new Promise((resolve) => stream.once('response', resolve));
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0), 500);
    expect(messages).toMatchObject([{ outcome: 'client-left', statusCode: when === 'before the answer' ? null : 200 }]);
    proxy.close();
  });

  test('a session that is gone takes its requests with it', async () => {
    const holder = await rawHolder(() => {});
    const { session } = await rig(holder.origin);
    const answers = [ask(session), ask(session, { ':method': 'POST' }, 'x')];
    await vi.waitFor(() => expect(holder.sockets.size).toBe(2));
    session.destroy();
    await Promise.all(answers);
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0), 500);
  });

  test('a client that does not read stops the holder', async () => {
    let sent = 0;
    const holder = await httpServer((_request, response) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        for (let room = true; room && sent < 100_000_000; sent += chunk.length) room = response.write(chunk);
      };
      response.on('drain', more);
      more();
    });
    const { session } = await rig(holder.origin);
    session.request({ ':path': '/m' }).on('error', () => {});
    let before = -1;
    await vi.waitFor(
      () => {
        const stands = sent === before && sent > 0;
        before = sent;
        expect(stands).toBe(true);
      },
      { timeout: 5_000, interval: 300 },
    );
    expect(sent).toBeLessThan(30_000_000);
  }, 10_000);

  test('what is complete is completed: a place in flight is given back', async () => {
    const holder = await httpServer((_request, response) => response.end('ok'));
    const { session } = await rig(holder.origin, { maxInFlight: 1 });
    const messages = forwardedTo(holder);
    for (let i = 0; i < 20; i++) expect((await ask(session)).headers[':status']).toBe(200);
    await vi.waitFor(() => expect(messages.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 20 }, () => 'completed')));
  });
});
