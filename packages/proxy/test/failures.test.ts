import type { ServerResponse } from 'node:http';
import net from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { Transport } from '../src/transport.ts';
import { fakeLeasehold, heldBy } from './support/fake-leasehold.ts';
import { otherProcess } from './support/other-process.ts';
import { forwardedTo, rejectedWith } from './support/published.ts';
import { RawClient } from './support/raw-client.ts';
import { rig } from './support/rig.ts';
import { spyLogger } from './support/spy-logger.ts';
import { httpServer, listen, rawHolder, unusedOrigin } from './support/servers.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function problem(text: string): { status: number; reason: string; detail: string } {
  return JSON.parse(text) as { status: number; reason: string; detail: string };
}

describe('nothing was sent: unreachable', () => {
  test('a refused connection', async () => {
    const { connect } = await rig(await unusedOrigin());
    const rejected = rejectedWith('TRACE');
    const client = await connect();
    const answer = await client.send('TRACE /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(problem(answer.text)).toMatchObject({
      status: 503,
      reason: 'unreachable',
      detail: expect.stringContaining('Nothing was executed'),
    });
    expect(answer.headers['proxy-status']).toBe('leasehold; error=connection_refused; details="unreachable"');
    expect(rejected).toEqual([
      expect.objectContaining({
        reason: 'unreachable',
        holder: 'app-02-bbbb',
        error: expect.objectContaining({ code: 'ECONNREFUSED' }),
      }),
    ]);
  });

  test('a host name that does not exist', async () => {
    const { connect } = await rig('http://app-02.invalid:3000');
    const answer = await (await connect()).send(GET).response();
    expect(problem(answer.text).reason).toBe('unreachable');
    expect(answer.headers['proxy-status']).toMatch(/error=dns_(error|timeout)/);
  });

  test('a connection that takes too long', async () => {
    const { connect } = await rig(await deafOrigin(), { connectTimeout: 100, headTimeout: 20_000 });
    const answer = await (await connect()).send(GET).response();
    expect(problem(answer.text).reason).toBe('unreachable');
    expect(answer.headers['proxy-status']).toContain('error=connection_timeout');
  });

  test('a client that leaves while the connection is being made leaves nothing behind', async () => {
    const { connect, front, proxy } = await rig(await deafOrigin(), { connectTimeout: 5_000, maxInFlight: 1 });
    const client = await connect();
    client.send(GET);
    await vi.waitFor(() => expect(proxy.decide({ url: '/m', rawHeaders: [] } as never)).toMatchObject({ reason: 'overloaded' }));
    client.socket.destroy();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    await vi.waitFor(() => expect(proxy.decide({ url: '/m', rawHeaders: [] } as never).kind).toBe('forward'));
  });

  test('two hundred quick requests: two hundred answers', async () => {
    const { connect } = await rig(await unusedOrigin());
    const clients = await Promise.all(Array.from({ length: 20 }, connect));
    const statuses = await Promise.all(
      clients.map(async (client) => {
        client.send(GET.repeat(10));
        const got: number[] = [];
        for (let round = 0; round < 10; round++) got.push((await client.response()).status);
        return got;
      }),
    );
    expect(statuses.flat()).toEqual(Array(200).fill(503));
  });

  test('an upload to a refused address: one answer, and the connection goes on', async () => {
    const { connect, leasehold } = await rig(await unusedOrigin());
    const client = await connect();
    client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n`).send(Buffer.alloc(2_000_000));
    expect((await client.response()).status).toBe(503);
    leasehold.lease.isHeld = true;
    expect((await client.send(GET).response()).text).toBe('local');
  });
});

/** A process that listens, and then does nothing any more: once its queue is full, connections hang. */
async function deafOrigin(): Promise<string> {
  const script = `
    const server = require('node:net').createServer();
    const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port, sleep));`;
  const port = await otherProcess<number>(script);
  let queued = 0;
  for (let count = 0; count < 8; count++) {
    const socket = net.connect(port, '127.0.0.1', () => queued++).on('error', () => {});
    onTestFinished(() => void socket.destroy());
  }
  await vi.waitFor(() => expect(queued).toBeGreaterThanOrEqual(2));
  return `http://127.0.0.1:${port}`;
}

describe('sent, and no answer: outcome-unknown', () => {
  test('the body says that it may have run', async () => {
    const holder = await rawHolder((socket) => void socket.destroy());
    const { connect } = await rig(holder.origin);
    const answer = await (await connect()).send(GET).response();
    expect(problem(answer.text)).toMatchObject({
      status: 503,
      reason: 'outcome-unknown',
      detail: expect.stringContaining('may have been executed'),
    });
    expect(answer.headers['retry-after']).toBe('13');
    expect(answer.headers['proxy-status']).toBe('leasehold; error=connection_terminated; details="outcome-unknown"');
  });

  test.each([
    ['a reset', (socket: net.Socket) => void socket.resetAndDestroy()],
    ['an end', (socket: net.Socket) => void socket.end()],
    ['half a head', (socket: net.Socket) => void socket.end('HTTP/1.1 200 OK\r\nX-Ha')],
    ['no HTTP', (socket: net.Socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['status 0', (socket: net.Socket) => void socket.end('HTTP/1.1 0 Zero\r\nContent-Length: 0\r\n\r\n')],
    ['status 099', (socket: net.Socket) => void socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')],
    ['status 1000', (socket: net.Socket) => void socket.end('HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n')],
    ['101 as the final answer', (socket: net.Socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
    ['100 and then nothing', (socket: net.Socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
    [
      'a control character in a value',
      (socket: net.Socket) => void socket.end('HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'),
    ],
    [
      'a length and chunks',
      (socket: net.Socket) =>
        void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    ],
    [
      'two lengths',
      (socket: net.Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'),
    ],
    [
      'gzip as transfer coding',
      (socket: net.Socket) => void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
    ],
  ])('%s: one 503, and the process lives', async (_, misbehave) => {
    const holder = await rawHolder((socket) => misbehave(socket));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    for (let round = 0; round < 2; round++) {
      expect(problem((await client.send(GET).response()).text)).toMatchObject({ status: 503, reason: 'outcome-unknown' });
    }
    expect(client.pending).toBe('');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
  });

  test('no head in time, with a code of its own, and the request is given up', async () => {
    const holder = await httpServer(() => {});
    const { connect } = await rig(holder.origin, { headTimeout: 100 });
    const rejected = rejectedWith('REPORT');
    const client = await connect();
    const answer = await client.send('REPORT /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(problem(answer.text).reason).toBe('outcome-unknown');
    expect(answer.headers['proxy-status']).toContain('error=http_response_timeout');
    expect(rejected).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: 'ETIMEDOUT' }) })]);
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
  });

  test('an upload may take longer than a head may, if it moves or rests on the side of the client', async () => {
    const holder = await httpServer((request, response) => void request.resume().on('end', () => response.end('done')));
    const { connect } = await rig(holder.origin, { headTimeout: 100 });
    const client = await connect();
    client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(client.pending).toBe('');
    expect((await client.send('cd').response()).text).toBe('done');
  });

  test('an upload that the holder does not take is given up', async () => {
    const holder = await httpServer(() => {});
    const { connect } = await rig(holder.origin, { headTimeout: 200 });
    const client = await connect();
    client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n').send(Buffer.alloc(20_000_000));
    expect(problem((await client.response()).text).reason).toBe('outcome-unknown');
  });

  test('a head that a merge cannot write leaves none of its fields on the 503', async () => {
    const holder = await rawHolder(
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nSet-Cookie: secret=1\r\nContent-Length: 0\r\n\r\n'),
    );
    const { connect } = await rig(holder.origin, {
      before(_, response) {
        let first = true;
        const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
        response.writeHead = (...args: unknown[]) => {
          if (first) {
            first = false;
            throw new Error('a broken hook');
          }
          return writeHead(...args);
        };
      },
    });
    const answer = await (await connect()).send(GET).response();
    expect(answer.status).toBe(503);
    expect(answer.lines.join()).not.toContain('secret');
  });
});

test('a logger that throws costs its line alone', async () => {
  const broken = (): never => {
    throw new Error('a broken logger');
  };
  const logger = { debug: broken, info: broken, warn: broken, error: broken };
  const { connect } = await rig(await unusedOrigin(), { logger });
  expect(problem((await (await connect()).send(GET).response()).text).reason).toBe('unreachable');
});

test('middleware that throws at every head costs the connection, and not the process', async () => {
  const { connect } = await rig(await unusedOrigin(), {
    before(_, response) {
      response.writeHead = () => {
        throw new Error('a broken hook');
      };
    },
  });
  const client = await connect();
  await client.send(GET).untilClosed();
  expect(client.pending).toBe('');
});

describe('errors that come twice or late', () => {
  test('after the whole answer they change nothing', async () => {
    const holder = await rawHolder((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => socket.resetAndDestroy());
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const messages = forwardedTo(holder);
    client.send(GET);
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    expect(['completed', 'truncated']).toContain(messages[0]?.outcome);
    expect(client.pending.match(/HTTP\/1\.1/g)?.length ?? 1).toBe(1);
  });

  test('an answer that waits for a slow client outlives the connection that it came by', async () => {
    const size = 400_000;
    const holder = await rawHolder((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size, 'x'));
    });
    const { connect, front } = await rig(holder.origin);
    const client = await connect();
    client.socket.pause();
    client.send(GET);
    // All of it has come by; a reset before would take along what the kernel still holds.
    await vi.waitFor(() => expect([...front.sockets][0]?.bytesWritten).toBeGreaterThan(size));
    for (const socket of holder.sockets) socket.resetAndDestroy();
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    client.socket.resume();
    expect((await client.response()).body).toHaveLength(size);
  });

  test('a client that leaves before it has read the whole answer has not got it', async () => {
    let answer: ServerResponse | undefined;
    const holder = await httpServer((_, response) => void (answer = response));
    const messages = forwardedTo(holder);
    const { connect, front } = await rig(holder.origin);
    const client = await connect();
    client.socket.pause();
    client.send(GET);
    await vi.waitFor(() => expect(answer).toBeDefined());
    const [socket] = front.sockets;
    // Until the kernel takes no more and something waits in this process; then the answer ends.
    const isAllTaken = (): boolean => socket?.writableLength === 0;
    while (isAllTaken()) {
      answer?.write(Buffer.alloc(32_768));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    answer?.end();
    await vi.waitFor(() => expect(answer?.writableFinished).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.destroy();
    await vi.waitFor(() => expect(messages.map(({ outcome }) => outcome)).toEqual(['client-left']));
  });

  test.each([
    ['a connection that is kept', 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a connection that closes', 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0', 'GET /m HTTP/1.0\r\n\r\n'],
    ['HEAD', 'HEAD /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ])('a whole answer on %s is completed', async (_, request) => {
    const holder = await httpServer((_request, response) => void response.end('ok'));
    const messages = forwardedTo(holder);
    const { connect } = await rig(holder.origin);
    (await connect()).send(request);
    await vi.waitFor(() =>
      expect(messages).toEqual([expect.objectContaining({ outcome: 'completed', statusCode: 200, role: 'maintenance' })]),
    );
    expect(messages[0]?.durationMs).toBeGreaterThan(0);
    expect(Object.keys(messages[0] ?? {})).not.toContain('error');
  });

  test('a request that was refused is not published as forwarded', async () => {
    const origin = await unusedOrigin();
    const messages = forwardedTo({ origin });
    const { connect, front } = await rig(origin);
    const client = await connect();
    expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').response()).status).toBe(503);
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    expect(messages).toEqual([]);
  });

  test('an answer that somebody else has begun is not answered again', async () => {
    const { connect } = await rig(null, { before: (_, response) => void response.write('begun') });
    const client = await connect();
    client.send(GET);
    await client.untilClosed();
    expect(client.pending.split('HTTP/1.1').length).toBeLessThanOrEqual(2);
    expect(client.pending).not.toContain('problem');
  });

  test('an answer that somebody else has ended is left alone', async () => {
    const open = vi.spyOn(Transport.prototype, 'open');
    onTestFinished(() => open.mockRestore());
    const holder = await httpServer((_, response) => void response.end('holder'));
    const { connect } = await rig(holder.origin, { before: (_, response) => void response.end('mine') });
    expect((await (await connect()).send(GET).response()).text).toBe('mine');
    expect(open).not.toHaveBeenCalled();
  });
});

describe('lines in the log', () => {
  test('one when the holder is lost, one when it is back, whatever the number of requests', async () => {
    const logger = spyLogger();
    const holder = await httpServer((_, response) => void response.end('ok'));
    const { connect } = await rig(holder.origin, { logger });
    const { port } = holder;
    const client = await connect();
    await client.send(GET).response();
    await holder.close();
    for (let round = 0; round < 3; round++) await client.send(GET).response();
    const losses = (): unknown[] => logger.warn.mock.calls.filter(([, message]) => message.includes('could not be forwarded'));
    expect(losses()).toEqual([[expect.objectContaining({ role: 'maintenance', holder: 'app-02-bbbb' }), expect.anything()]]);
    const again = await listen(net.createServer((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n')));
    await again.close();
    again.server.listen(port, '127.0.0.1');
    onTestFinished(() => void again.server.close());
    await vi.waitFor(async () => expect((await client.send(GET).response()).status).toBe(204));
    expect(logger.info).toHaveBeenCalledTimes(1);
    expect(losses()).toHaveLength(1);
  });
});

describe('a request that cannot be written again', () => {
  test('is 400, and nothing is sent', async () => {
    const holder = await httpServer((_, response) => void response.end('executed'));
    const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
    const front = await httpServer((request, response) => {
      request.rawHeaders.push('X-Bad', 'a\r\nSmuggled: 1');
      proxy.handle(request, response, () => response.end());
    });
    const answer = await (await RawClient.connect(front.port)).send(GET).response();
    expect(problem(answer.text)).toMatchObject({ status: 400, reason: 'malformed-request' });
    expect(holder.accepted.count).toBe(0);
  });
});
