import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { type FakeLeasehold, heldBy } from '../support/http/fake-leasehold.ts';
import { forwardedTo } from '../support/http/published.ts';
import type { RawClient } from '../support/http/raw-client.ts';
import { httpServer, type TestServer } from '../support/http/servers.ts';
import { upgrade } from '../support/http/upgrades.ts';
import { onEveryHost } from './on-every-host.ts';
import type { Rig } from './rig.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function see(from: Rig, holder: Rig, isHeld = false): void {
  Object.assign(from.leasehold.lease, heldBy(holder.front.origin, holder.leasehold.instance.id), { isHeld });
}

onEveryHost(({ rig }) => {
  const instance = (id: string): Promise<Rig> => rig(null, { id });

  describe('one hop', () => {
    test('whichever instance is asked, the holder alone executes', async () => {
      const [a, b] = [await instance('a-1'), await instance('b-1')];
      see(a, b);
      see(b, b, true);
      for (const asked of [a, b]) {
        const answer = await (await asked.connect()).send(GET).response();
        expect(answer.text).toBe('local');
      }
      expect([a.local, b.local]).toEqual([[], ['GET /m', 'GET /m']]);
    });

    test.each([
      ['GET', GET],
      ['HEAD', 'HEAD /m HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['POST', 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok'],
      ['chunked DELETE', 'DELETE /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['with credentials', 'GET /m HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nConnection: Leasehold-Hop\r\n\r\n'],
      ['an upgrade', upgrade('/m', { connection: 'Upgrade, Leasehold-Hop' })],
    ])('%s: two instances that take each other for the holder refuse the second hop', async (name, request) => {
      const [a, b] = [await instance('a-1'), await instance('b-1')];
      see(a, b);
      see(b, a);
      const answer = await (await a.connect()).send(request).response({ head: name === 'HEAD' });
      expect(answer.status).toBe(503);
      expect(answer.headers).toMatchObject({
        'retry-after': '1',
        'proxy-status': 'leasehold; error=destination_unavailable; details="failover"',
      });
      expect([a.front.accepted.count, b.front.accepted.count]).toEqual([1, 1]);
      expect([a.local, b.local]).toEqual([[], []]);
    });

    test('a demoted instance that still sees itself as the holder does not call itself', async () => {
      const a = await instance('a-1');
      see(a, a);
      const answer = await (await a.connect()).send(GET).response();
      expect(JSON.parse(answer.text).reason).toBe('self');
      expect(a.front.accepted.count).toBe(1);
    });

    test('neither does one that restarted under the same address', async () => {
      const a = await instance('a-2');
      Object.assign(a.leasehold.lease, heldBy(a.front.origin, 'a-1'));
      const answer = await (await a.connect()).send(GET).response();
      expect(JSON.parse(answer.text).reason).toBe('self');
      expect(a.front.accepted.count).toBe(1);
    });

    test('the holder moved while the request was on its way: 503, and the next try succeeds', async () => {
      const [a, b, c] = [await instance('a-1'), await instance('b-1'), await instance('c-1')];
      see(a, b);
      see(b, c);
      see(c, c, true);
      const client = await a.connect();
      const refused = await client.send(GET).response();
      expect(JSON.parse(refused.text).reason).toBe('failover');
      see(a, c);
      expect((await client.send(GET).response()).text).toBe('local');
      expect([b.local, c.local]).toEqual([[], ['GET /m']]);
    });

    test('this instance became the holder in between: local at once', async () => {
      const [a, b] = [await instance('a-1'), await instance('b-1')];
      see(a, b);
      see(b, b, true);
      const client = await a.connect();
      await client.send(GET).response();
      see(a, a, true);
      expect((await client.send(GET).response()).text).toBe('local');
    });

    test('a marker from outside harms its own request alone', async () => {
      const [a, b] = [await instance('a-1'), await instance('b-1')];
      see(a, b);
      see(b, b, true);
      const client = await a.connect();
      const spoofed = await client.send('GET /m HTTP/1.1\r\nHost: a\r\nLeasehold-Hop: x\r\n\r\n').response();
      expect(spoofed.status).toBe(503);
      expect((await client.send(GET).response()).text).toBe('local');
    });
  });

  describe('streams and a role that changes hands', () => {
    async function streams(
      onRoleChange: 'keep' | 'close',
      count: number,
    ): Promise<{ clients: RawClient[]; leasehold: FakeLeasehold; holder: TestServer; send(text: string): void }> {
      const open: ServerResponse[] = [];
      const holder = await httpServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
        open.push(response);
      });
      const { connect, leasehold } = await rig(holder.origin, { onRoleChange, lease: { renewIntervalMs: 300 } });
      const clients = await Promise.all(Array.from({ length: count }, connect));
      for (const client of clients) client.send(GET);
      await Promise.all(clients.map((client) => client.untilText('\r\n\r\n')));
      return { clients, leasehold, holder, send: (text) => open.forEach((response) => response.write(text)) };
    }

    test("'keep': they stay with the old holder for as long as it likes", async () => {
      const { clients, leasehold, send } = await streams('keep', 3);
      Object.assign(leasehold.lease, { currentHolder: 'app-03-cccc' });
      await new Promise((resolve) => setTimeout(resolve, 600));
      send('data: late\n\n');
      await Promise.all(clients.map((client) => client.untilText('data: late')));
    });

    test("'close': they are cut, not ended, and not all at once", async () => {
      const { leasehold, holder, clients } = await streams('close', 20);
      const messages = forwardedTo(holder);
      Object.assign(leasehold.lease, { currentHolder: 'app-03-cccc' });
      await Promise.all(clients.map((client) => client.untilClosed()));
      expect(clients.some((client) => client.pending.endsWith('0\r\n\r\n'))).toBe(false);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
      expect(messages.map(({ outcome }) => outcome)).toEqual(Array(20).fill('role-changed'));
      const lasted = messages.map(({ durationMs }) => durationMs);
      expect(Math.max(...lasted) - Math.min(...lasted)).toBeGreaterThan(30);
    });

    test("'close': while nobody is known to hold, and for an answer of known length, nothing is cut", async () => {
      let answer = (): void => {};
      const holder = await httpServer((request, response) => {
        response.writeHead(200, request.url === '/m/long' ? { 'Content-Length': 4 } : {});
        response.write('ab');
        answer = () => void response.end('cd');
      });
      const { connect, leasehold } = await rig(holder.origin, { onRoleChange: 'close', lease: { renewIntervalMs: 300 } });
      for (const [path, holds] of [
        ['/m/long', 'app-03-cccc'],
        ['/m', null],
      ] as const) {
        Object.assign(leasehold.lease, heldBy(holder.origin));
        const client = await connect();
        client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
        await client.untilText('ab');
        leasehold.lease.currentHolder = holds;
        await new Promise((resolve) => setTimeout(resolve, 800));
        answer();
        expect((await client.response()).text).toBe('abcd');
      }
    });
  });
});
