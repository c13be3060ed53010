import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Transport } from '../src/transport.ts';
import { rig } from './support/rig.ts';
import { httpServer, rawHolder } from '../../../test/support/http/servers.ts';

function last<T>(items: readonly T[]): T {
  return items.at(-1) as T;
}

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

describe('once, and never again', () => {
  test.each([
    ['POST answered 503', 'POST', '503'],
    ['GET answered 503', 'GET', '503'],
    ['POST reset', 'POST', 'reset'],
    ['GET reset', 'GET', 'reset'],
    ['GET redirected', 'GET', '302'],
    ['GET answered 429 with Retry-After', 'GET', '429'],
  ])('%s: the holder sees exactly one request', async (_, method, how) => {
    let seen = 0;
    const holder = await httpServer((request, response) => {
      seen++;
      request.resume();
      if (how === 'reset') request.socket.resetAndDestroy();
      else response.writeHead(Number(how), { Location: '/elsewhere', 'Retry-After': '0' }).end();
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const answer = await client.send(`${method} /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok`).response();
    expect(answer.status).toBe(how === 'reset' ? 503 : Number(how));
    await client.send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(seen).toBe(1);
  });

  test('not on another connection either, when a kept one turns out to be closed', async () => {
    let seen = 0;
    const holder = await rawHolder((socket) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      socket.on('data', () => {
        seen++;
        socket.resetAndDestroy();
      });
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    await client.send(GET).response();
    const answer = await client.send(GET).response();
    expect(JSON.parse(answer.text).reason).toBe('outcome-unknown');
    expect(seen).toBe(1);
    expect(holder.accepted.count).toBe(1);
  });
});

describe('connections to the holder', () => {
  test('are used again: two thousand requests in a row make one', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    for (let round = 0; round < 2_000; round++) await client.send(GET).response();
    expect(holder.accepted.count).toBe(1);
  }, 20_000);

  test('keep no listeners of the requests that they carried', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const agents = new Set<unknown>();
    const open = vi.spyOn(Transport.prototype, 'open');
    onTestFinished(() => open.mockRestore());
    const holder = await httpServer((request, response) => void request.pipe(response));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const counts: number[] = [];
    for (let round = 0; round < 30; round++) {
      await client.send('POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok').response();
      const { socket, agent } = last(open.mock.results).value as ClientRequest & { agent: unknown };
      agents.add(agent);
      counts.push(socket === null ? 0 : socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0));
    }
    expect(agents.size).toBe(1);
    expect(last(counts)).toBeGreaterThan(0);
    expect(last(counts)).toBeLessThanOrEqual(counts[5] ?? 0);
    expect(warnings).toEqual([]);
  });

  test('are closed when idle for longer than the limit', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const { connect } = await rig(holder.origin, { idleTimeout: 50 });
    await (await connect()).send(GET).response();
    expect(holder.accepted.count).toBe(1);
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
  });

  test('are not closed for silence while they are in use, whatever Keep-Alive the holder announced', async () => {
    let slow = false;
    const holder = await httpServer((_, response) => {
      response.setHeader('Keep-Alive', 'timeout=2');
      if (slow) setTimeout(() => response.end('slow'), 400);
      else response.end('fast');
    });
    const { connect } = await rig(holder.origin, { idleTimeout: 100 });
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('fast');
    slow = true;
    expect((await client.send(GET).response()).text).toBe('slow');
    expect(holder.accepted.count).toBe(1);
  });

  test('that the holder will close soon are not used again', async () => {
    const holder = await httpServer((_, response) => {
      response.setHeader('Keep-Alive', 'timeout=1');
      response.end('ok');
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    for (let round = 0; round < 3; round++) expect((await client.send(GET).response()).status).toBe(200);
    expect(holder.accepted.count).toBe(3);
  });

  test('have no limit that would be a queue: fifty slow requests are fifty connections', async () => {
    const waiting: (() => void)[] = [];
    const holder = await httpServer((_, response) => void waiting.push(() => response.end('ok')));
    const { connect } = await rig(holder.origin);
    const clients = await Promise.all(Array.from({ length: 50 }, connect));
    for (const client of clients) client.send(GET);
    await vi.waitFor(() => expect(waiting).toHaveLength(50));
    for (const finish of waiting) finish();
    for (const client of clients) expect((await client.response()).text).toBe('ok');
    expect(holder.accepted.count).toBe(50);
  });

  test('are closed by close(): the idle at once, those in use when their answer is whole', async () => {
    let finish = (): void => {};
    const holder = await httpServer((request, response) => {
      if (request.url === '/m/slow') finish = () => void response.end('slow');
      else response.end('fast');
    });
    const { connect, proxy } = await rig(holder.origin);
    const [slow, fast] = [await connect(), await connect()];
    slow.send('GET /m/slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(1));
    await fast.send(GET).response();
    expect(holder.sockets.size).toBe(2);
    proxy.close();
    await vi.waitFor(() => expect(holder.sockets.size).toBe(1));
    const refused = await fast.send(GET).response();
    expect(JSON.parse(refused.text).reason).toBe('stopping');
    finish();
    expect((await slow.response()).text).toBe('slow');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    proxy.close();
  });

  test('do not keep a process alive by themselves', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const script = `
      import http from 'node:http';
      import { createRoleHolderProxy } from '@leasehold/proxy';
      const lease = { role: 'r', isHeld: false, fencingToken: null, currentHolder: 'b', currentHolderAddress: '${holder.origin}', holderRemainingMs: 0, renewIntervalMs: 5000 };
      const proxy = createRoleHolderProxy({ instance: { id: 'a', label: 'a', address: null }, get: () => lease }, { role: 'r', prefixes: ['/'], idleTimeout: '60s', headTimeout: '60s' });
      const server = http.createServer((request, response) => proxy.handle(request, response, () => {}));
      server.listen(0, '127.0.0.1', async () => {
        const answer = await fetch('http://127.0.0.1:' + server.address().port, { headers: { connection: 'close' } });
        console.log(await answer.text());
        server.close();
      });`;
    const child = spawn(process.execPath, ['--conditions=@leasehold/source', '--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'exit')) as [number];
    expect([code, output.trim()]).toEqual([0, 'ok']);
  }, 15_000);
});
