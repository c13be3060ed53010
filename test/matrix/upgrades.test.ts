import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { forwardedTo } from '../support/http/published.ts';
import type { RawClient } from '../support/http/raw-client.ts';
import { rawHolder } from '../support/http/servers.ts';
import { echo, SWITCH, switching, upgrade } from '../support/http/upgrades.ts';
import { onEveryHost } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

const NEVER = (): void => {};

onEveryHost(({ rig }) => {
  describe('an upgrade that the holder accepts', () => {
    test('becomes a tunnel: bytes pass both ways as they come', async () => {
      const holder = await switching(echo);
      const { connect } = await rig(holder.origin);
      const messages = forwardedTo(holder);
      const client = await connect();
      const answer = await client.send(upgrade('/m/socket?a=1')).response();
      expect(answer).toMatchObject({ status: 101, statusText: 'Switching Protocols' });
      expect(answer.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': 'yes' });
      client.send('one');
      await client.untilText('echo:one');
      client.send(Buffer.from([0, 255, 13, 10]));
      await client.untilText('echo:\0\xff\r\n');
      client.socket.end();
      await client.untilClosed();
      await vi.waitFor(() => expect(messages).toMatchObject([{ outcome: 'completed', statusCode: 101, method: 'GET' }]));
    });

    test('arrives with the marker, via, the fields of the client, and none that Connection names', async () => {
      const holder = await switching(NEVER);
      const { connect } = await rig(holder.origin);
      const fields = 'Origin: http://x\r\nX-Own: 1\r\nx-latin: caf\xe9\r\nX-Forwarded-For: 9.9.9.9\r\nKeep-Alive: 5\r\n';
      const request = upgrade('/m', { connection: 'keep-alive, X-Own, Leasehold-Hop, Upgrade' }).replace(
        '\r\n\r\n',
        `\r\n${fields}\r\n`,
      );
      const client = await connect();
      await client.send(request).response();
      const lines = holder.received().split('\r\n');
      expect(lines).toEqual([
        'GET /m HTTP/1.1',
        'Leasehold-Hop: maintenance;app-01-aaaa;0',
        'Host: a',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'Origin: http://x',
        'x-latin: caf\xe9',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'X-Forwarded-For: 127.0.0.1',
        'X-Forwarded-Proto: http',
        'X-Forwarded-Host: a',
        'Via: 1.1 leasehold',
        '',
        '',
      ]);
    });

    test('the head of its answer loses what was meant for one hop', async () => {
      const fields =
        'Connection: Upgrade, X-Hop\r\nUpgrade: websocket\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nset-cookie: a\r\nset-cookie: caf\xe9\r\n';
      const holder = await rawHolder((socket) => socket.write(`HTTP/1.1 101 Sure\r\n${fields}\r\n`, 'latin1'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(upgrade('/m')).response();
      expect(answer.statusText).toBe('Sure');
      expect(answer.lines).toEqual(['set-cookie: a', 'set-cookie: caf\xe9', 'Connection: Upgrade', 'Upgrade: websocket']);
    });

    test('bytes that come with either head are in their place', async () => {
      const holder = await rawHolder((socket) => socket.write(`${SWITCH}hello`));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      client.send(`${upgrade('/m')}early`);
      expect((await client.response()).status).toBe(101);
      await client.untilText('hello');
      client.send('later');
      await vi.waitFor(() => expect(holder.received()).toContain('\r\n\r\nearlylater'));
    });
  });

  describe('a tunnel ends on both sides', () => {
    async function tunnel(options?: RigOptions) {
      let end: Socket | undefined;
      const holder = await rawHolder((socket) => {
        end = socket;
        socket.write(SWITCH);
      });
      const built = await rig(holder.origin, options);
      const messages = forwardedTo(holder);
      const client = await built.connect();
      await client.send(upgrade('/m')).response();
      return { ...built, holder, messages, client, end: end as unknown as Socket };
    }

    test('when the holder dies', async () => {
      const { client, end, front, messages } = await tunnel();
      end.resetAndDestroy();
      await client.untilClosed();
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect(messages).toMatchObject([{ outcome: 'truncated', statusCode: 101 }]);
    });

    test('when the holder closes: its last bytes are read first', async () => {
      const { client, end, front, messages } = await tunnel();
      end.end('z'.repeat(2_000_000));
      await client.untilClosed();
      expect(client.pending).toHaveLength(2_000_000);
      client.socket.end();
      await vi.waitFor(() => expect(front.sockets.size).toBe(0));
      expect(messages).toMatchObject([{ outcome: 'completed' }]);
    });

    test.each([
      ['resets', (client: RawClient) => client.socket.resetAndDestroy()],
      ['is destroyed', (client: RawClient) => client.socket.destroy()],
    ])('at once when the client %s', async (_, leave) => {
      const { client, holder, front, messages } = await tunnel();
      leave(client);
      await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
      await vi.waitFor(() => expect(messages).toHaveLength(1));
    });

    test('when the role moves and streams are to be closed', async () => {
      const { client, leasehold, holder, messages } = await tunnel({ onRoleChange: 'close', lease: { renewIntervalMs: 100 } });
      leasehold.lease.currentHolder = 'app-03-cccc';
      await client.untilClosed();
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
      expect(messages).toMatchObject([{ outcome: 'role-changed' }]);
    });

    test('and not when the role moves and they are to be kept', async () => {
      const { client, leasehold, end } = await tunnel({ headTimeout: 100, lease: { renewIntervalMs: 20 } });
      leasehold.lease.currentHolder = 'app-03-cccc';
      // Longer than every limit of the proxy, which all are over by now.
      await new Promise((resolve) => setTimeout(resolve, 300));
      end.write('still here');
      await client.untilText('still here');
    });
  });

  describe("upgrades that are not the proxy's", () => {
    test('outside the prefixes the application has its own', async () => {
      const { connect } = await rig('http://127.0.0.1:1');
      const client = await connect();
      expect((await client.send(upgrade('/chat')).response()).status).toBe(101);
    });

    test('held here they are local', async () => {
      const { connect, leasehold } = await rig('http://127.0.0.1:1');
      leasehold.lease.isHeld = true;
      const client = await connect();
      expect((await client.send(upgrade('/m')).response()).status).toBe(101);
    });
  });
});
