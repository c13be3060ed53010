import net from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { otherProcess } from '../support/http/other-process.ts';
import { rejectedWith } from '../support/http/published.ts';
import { spyLogger } from '../support/http/spy-logger.ts';
import { httpServer, listen, unusedOrigin } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function problem(text: string): { status: number; reason: string; detail: string } {
  return JSON.parse(text) as { status: number; reason: string; detail: string };
}

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

onEveryHost(({ rig }) => {
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
      const { connect, front } = await rig(await deafOrigin(), { connectTimeout: 5_000, maxInFlight: 1 });
      const client = await connect();
      client.send(GET);
      await vi.waitFor(() => expect([...front.sockets][0]?.bytesRead).toBeGreaterThan(0));
      const other = await connect();
      expect(problem((await other.send(GET).response()).text).reason).toBe('overloaded');
      client.socket.destroy();
      await vi.waitFor(() => expect(front.sockets.size).toBe(1));
      // The place is free again: this one waits for the connection in its turn.
      const third = await connect();
      third.send(GET);
      await vi.waitFor(() => expect([...front.sockets][1]?.bytesRead).toBeGreaterThan(0));
      expect(problem((await other.send(GET).response()).text).reason).toBe('overloaded');
      expect(third.pending).toBe('');
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
});
