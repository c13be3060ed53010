import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import type { RawClient } from '../support/http/raw-client.ts';
import { httpServer, type TestServer } from '../support/http/servers.ts';
import { onEveryHost, unless } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';

/** How far a request has come when its client does something about it. */
const stages: readonly [string, string, (seen: Seen) => unknown][] = [
  ['in the middle of the request line', 'GET /m HT', () => {}],
  ['in the middle of the head', 'GET /m HTTP/1.1\r\nHost: a\r\nX-Ha', () => {}],
  ['before the body', POST, ({ requests }) => expect(requests).toBe(1)],
  ['in the middle of the body', `${POST}hello`, ({ bytes }) => expect(bytes).toBe(5)],
  ['before the answer', GET.replace('/m', '/m/wait'), ({ requests }) => expect(requests).toBe(1)],
  ['in the middle of the answer', GET.replace('/m', '/m/half'), ({ requests }) => expect(requests).toBe(1)],
  ['with a second request behind the first', GET.replace('/m', '/m/wait') + GET, ({ requests }) => expect(requests).toBe(2)],
];

const ends: readonly [string, (client: RawClient) => unknown][] = [
  ['vanishes', (client) => client.socket.destroy()],
  ['resets', (client) => client.socket.resetAndDestroy()],
];

interface Seen {
  requests: number;
  bytes: number;
  readonly responses: ServerResponse[];
}

async function seeing(): Promise<{ holder: TestServer; seen: Seen }> {
  const seen: Seen = { requests: 0, bytes: 0, responses: [] };
  const holder = await httpServer((request, response) => {
    seen.requests++;
    seen.responses.push(response);
    request.on('data', (chunk: Buffer) => (seen.bytes += chunk.length)).on('error', () => {});
    if (request.url === '/m/half') response.writeHead(200, { 'Content-Length': 10 }).write('hello');
    else if (request.url === '/m') request.on('end', () => response.end('done'));
  });
  return { holder, seen };
}

onEveryHost(({ host, rig }) => {
  const at = stages.flatMap(([stage, text, reached]) => ends.map(([end, leave]) => ({ stage, text, reached, end, leave })));

  test.for(at)('a client that $end $stage takes its request with it', async ({ text, reached, leave }) => {
    const { holder, seen } = await seeing();
    const { connect, front } = await rig(holder.origin);
    const client = await connect();
    client.send(text);
    await vi.waitFor(() => expect(front.accepted.count).toBe(1));
    await vi.waitFor(() => reached(seen));
    leave(client);
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    await vi.waitFor(() => expect(seen.responses.filter((response) => !response.closed)).toEqual([]));
    expect((await (await connect()).send(GET).response()).text).toBe('done');
  });

  describe('a client that closes its side alone', () => {
    /** Node takes it for a client that left, unless a server is told otherwise. */
    test('behind a whole request has left, as on every server of Node', async () => {
      const { holder, seen } = await seeing();
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.socket.allowHalfOpen = true;
      client.socket.end(GET.replace('/m', '/m/wait'));
      await vi.waitFor(() => expect(seen.responses.map((response) => response.closed)).toEqual([true]));
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    });

    test('behind a whole request has its answer where the server allows that', async () => {
      const { holder, seen } = await seeing();
      const { connect, front } = await rig(holder.origin);
      Object.assign(front.server, { httpAllowHalfOpen: true });
      const client = await connect();
      client.socket.allowHalfOpen = true;
      client.socket.end(GET.replace('/m', '/m/wait'));
      await vi.waitFor(() => expect(seen.responses).toHaveLength(1));
      seen.responses[0]?.end('late');
      expect((await client.response()).text).toBe('late');
    });

    test('in the middle of its body: the holder sees no whole request, and nothing stays', async () => {
      const { holder, seen } = await seeing();
      const { connect, front } = await rig(holder.origin);
      const client = await connect();
      client.socket.allowHalfOpen = true;
      client.socket.end(`${POST}hello`);
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      await vi.waitFor(() => expect(seen.responses.filter((response) => !response.closed)).toEqual([]));
      expect(client.pending).not.toContain('done');
    });
  });

  test('a client that sends ten requests at once has ten answers in their order', async () => {
    const holder = await httpServer((request, response) => {
      // The later ones are ready first.
      setTimeout(() => response.end(String(request.url)), 20 - 2 * Number(request.url?.at(-1)));
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const paths = Array.from({ length: 10 }, (_, index) => `/m/${index}`);
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    const answers: string[] = [];
    for (const _ of paths) answers.push((await client.response()).text);
    expect(answers).toEqual(paths);
  });

  test('requests for here and for the holder on one connection keep their order', async () => {
    const waiting: ServerResponse[] = [];
    const holder = await httpServer((_, response) => void waiting.push(response));
    const { connect, local } = await rig(holder.origin);
    const client = await connect();
    client.send(GET + GET.replace('/m', '/here') + GET + GET.replace('/m', '/here'));
    await vi.waitFor(() => expect([waiting.length, local.length]).toEqual([2, 2]));
    expect(client.pending).toBe('');
    waiting[1]?.end('second');
    waiting[0]?.end('first');
    const answers: string[] = [];
    for (let round = 0; round < 4; round++) answers.push((await client.response()).text);
    expect(answers).toEqual(['first', 'local', 'second', 'local']);
  });

  unless(host.lacks.before)('a client that left before the proxy had its turn costs the holder nothing', async () => {
    const { holder, seen } = await seeing();
    let go = (): void => {};
    const { connect, front } = await rig(holder.origin, { before: () => new Promise((resolve) => (go = resolve)) });
    const client = await connect();
    client.send(GET);
    await vi.waitFor(() => expect(front.accepted.count).toBe(1));
    await vi.waitFor(() => expect([...front.sockets][0]?.bytesRead).toBeGreaterThan(0));
    client.socket.destroy();
    await vi.waitFor(() => expect(front.sockets.size).toBe(0));
    go();
    const next = await connect();
    next.send(GET);
    await vi.waitFor(() => expect([...front.sockets][0]?.bytesRead).toBeGreaterThan(0));
    go();
    expect((await next.response()).text).toBe('done');
    expect(seen.requests).toBe(1);
  });

  test('a client that stalls in the middle of its body stalls nobody else', async () => {
    const { holder } = await seeing();
    const { connect } = await rig(holder.origin);
    const slow = await connect();
    slow.send(`${POST}hello`);
    expect((await (await connect()).send(GET).response()).text).toBe('done');
    expect((await slow.send('world').response()).text).toBe('done');
  });

  test('a client that does not read stops the holder', async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const holder = await httpServer((_, response) => {
      const more = (): void => {
        while (written < 100_000_000) {
          written += chunk.length;
          if (!response.write(chunk)) return;
        }
      };
      response.on('drain', more);
      more();
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.socket.pause();
    client.send(GET);
    let before = -1;
    const stands = (): void => {
      const now = written;
      const same = now > 0 && now === before;
      before = now;
      expect(same).toBe(true);
    };
    await vi.waitFor(stands, { timeout: 5_000, interval: 100 });
    expect(written).toBeLessThan(40_000_000);
  });

  test('five megabytes up and down at once arrive whole', async () => {
    const holder = await httpServer((request, response) => void request.pipe(response.writeHead(200)));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const body = Buffer.alloc(5_000_000, 'abcdefghij');
    client.send(`POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`).send(body);
    expect((await client.response()).body.equals(body)).toBe(true);
  });
});
