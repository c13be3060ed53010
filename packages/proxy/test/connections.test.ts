import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Transport } from '../src/transport.ts';
import { rig } from './support/rig.ts';
import { httpServer } from '../../../test/support/http/servers.ts';

function last<T>(items: readonly T[]): T {
  return items.at(-1) as T;
}

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

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
    // Or the client keeps its connection, and with it the server that is closing.
    expect(refused.headers.connection).toBe('close');
    await fast.untilClosed();
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
