import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, test, vi } from 'vitest';
import { createAuthority } from '../support/http/certificates.ts';
import { forwardedTo } from '../support/http/published.ts';
import { httpServer, listen, rawHolder, unusedOrigin } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

const reasonOf = (text: string): string => (JSON.parse(text) as { reason: string }).reason;

onEveryHost(({ rig }) => {
  describe('what listens at the address of the holder is not what the row says', () => {
    test('it speaks TLS where http is expected: one 503, and nothing of its alert reaches the client', async () => {
      const { cert, key } = createAuthority().issue(['IP:127.0.0.1']);
      const server = tls.createServer({ cert, key });
      server.on('tlsClientError', () => {});
      const { connect } = await rig((await listen(server)).origin);
      const answer = await (await connect()).send(GET).response();
      expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'outcome-unknown']);
    });

    test('it speaks http where TLS is expected: one 503, and nothing was sent', async () => {
      const holder = await httpServer((_, response) => void response.end('executed'));
      const { connect } = await rig(holder.origin.replace('http', 'https'));
      const answer = await (await connect()).send(GET).response();
      expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'unreachable']);
    });

    test('it never speaks: a connection with TLS is given up in time', async () => {
      const holder = await rawHolder(() => {});
      const { connect } = await rig(holder.origin.replace('http', 'https'), { connectTimeout: 100 });
      const answer = await (await connect()).send(GET).response();
      expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'unreachable']);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });

    test('it speaks first, before it was asked', async () => {
      const holder = await listen(net.createServer((socket) => void socket.write('220 mail.internal ESMTP\r\n')));
      const { connect } = await rig(holder.origin);
      expect((await (await connect()).send(GET).response()).status).toBe(503);
    });

    test('it sends a megabyte of fields', async () => {
      const holder = await rawHolder((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${`X-Big: ${'x'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n`);
      });
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send(GET).response();
      expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'outcome-unknown']);
      await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    });
  });

  test('three failures, three outcomes: refused, no head in time, and a client that left', async () => {
    const refused = await rig(await unusedOrigin());
    const answer = await (await refused.connect()).send(GET).response();
    expect([reasonOf(answer.text), answer.headers['proxy-status']]).toEqual([
      'unreachable',
      expect.stringContaining('error=connection_refused'),
    ]);
    const silent = await rawHolder(() => {});
    const slow = await rig(silent.origin, { headTimeout: 100 });
    const late = await (await slow.connect()).send(GET).response();
    expect([reasonOf(late.text), late.headers['proxy-status']]).toEqual([
      'outcome-unknown',
      expect.stringContaining('error=http_response_timeout'),
    ]);
    const patient = await rig(silent.origin);
    const messages = forwardedTo(silent);
    const leaves = await patient.connect();
    leaves.send(GET);
    await vi.waitFor(() => expect(silent.accepted.count).toBe(2));
    leaves.socket.destroy();
    await vi.waitFor(() => expect(messages).toMatchObject([{ outcome: 'client-left', statusCode: null }]));
  });

  test('a hundred requests in a row are one connection', async () => {
    const holder = await httpServer((_, response) => void response.end('ok'));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    for (let round = 0; round < 100; round++) await client.send(GET).response();
    expect(holder.accepted.count).toBe(1);
  });
});
