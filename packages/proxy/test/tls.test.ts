import https from 'node:https';
import net, { type Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { createAuthority } from '../../../test/support/http/certificates.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { forwardedTo } from '../../../test/support/http/published.ts';
import type { RawResponse } from '../../../test/support/http/raw-client.ts';
import { rig, type RigOptions } from './support/rig.ts';
import { listen, rawHolder, type TestServer } from '../../../test/support/http/servers.ts';

const authority = createAuthority();
const stranger = createAuthority();
const GET = 'GET /m HTTP/1.1\r\nHost: public.example\r\n\r\n';

async function holderWith(options: https.ServerOptions): Promise<TestServer<https.Server>> {
  const server = https.createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket;
    const client = socket.getPeerCertificate().subject as { CN?: string } | undefined;
    response.end(JSON.stringify({ sni: socket.servername, client: client?.CN ?? null, reused: socket.isSessionReused() }));
  });
  server.on('tlsClientError', () => {});
  return listen(server, 'https');
}

async function ask(origin: string, options: RigOptions): Promise<RawResponse> {
  const { connect } = await rig(origin, options);
  return (await connect()).send(GET).response();
}

describe('a holder with an https address', () => {
  test('is refused even where an environment variable turns verification off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    // Node warns of that variable, which is not what is tested.
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => {
      vi.unstubAllEnvs();
      emitWarning.mockRestore();
    });
    const holder = await holderWith(stranger.issue(['IP:127.0.0.1']));
    expect(JSON.parse((await ask(holder.origin, {})).text).reason).toBe('unreachable');
  });

  test('at an IP address is verified by servername where that is given', async () => {
    const holder = await holderWith(authority.issue(['DNS:app.internal']));
    const answer = await ask(holder.origin, { tls: { ca: authority.cert, servername: 'app.internal' } });
    expect(JSON.parse(answer.text)).toMatchObject({ sni: 'app.internal' });
    const wrong = await ask(holder.origin, { tls: { ca: authority.cert, servername: 'other.internal' } });
    expect(JSON.parse(wrong.text).reason).toBe('unreachable');
  });

  test('at a name is asked for that name, never for the Host of the client', async () => {
    const holder = await holderWith(authority.issue(['DNS:localhost']));
    const answer = await ask(`https://localhost:${holder.port}`, { tls: { ca: authority.cert } });
    expect(JSON.parse(answer.text)).toMatchObject({ sni: 'localhost' });
  });

  test('that asks for a certificate gets ours', async () => {
    const holder = await holderWith({ ...authority.issue(['IP:127.0.0.1']), ca: authority.cert, requestCert: true });
    const own = authority.issue(['DNS:app-01'], 'client');
    const answer = await ask(holder.origin, { tls: { ca: authority.cert, ...own } });
    expect(JSON.parse(answer.text)).toMatchObject({ client: 'DNS:app-01' });
  });

  test('keeps its connection', async () => {
    const holder = await holderWith(authority.issue(['IP:127.0.0.1']));
    const { connect } = await rig(holder.origin, { tls: { ca: authority.cert } });
    const client = await connect();
    for (let round = 0; round < 5; round++) expect((await client.send(GET).response()).status).toBe(200);
    expect(holder.accepted.count).toBe(1);
  });

  test('that speaks no TLS is unreachable', async () => {
    const plain = await listen(
      net.createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      'https',
    );
    expect(JSON.parse((await ask(plain.origin, {})).text).reason).toBe('unreachable');
  });

  test('that never answers the handshake is unreachable in time', async () => {
    const deaf = await listen(
      net.createServer((socket) => void socket.resume()),
      'https',
    );
    const answer = await ask(deaf.origin, { connectTimeout: 100, headTimeout: 20_000 });
    expect(JSON.parse(answer.text).reason).toBe('unreachable');
    expect(answer.headers['proxy-status']).toContain('error=connection_timeout');
    await vi.waitFor(() => expect(deaf.sockets.size).toBe(0));
  });
});

test('a client that came by TLS is told so to the holder', async () => {
  const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
  const server = https.createServer(authority.issue(['IP:127.0.0.1']), (request, response) =>
    proxy.handle(request, response, () => response.end()),
  );
  const front = await listen(server, 'https');
  const status = await new Promise((resolve, reject) => {
    https
      .get(`${front.origin}/m`, { ca: authority.cert, agent: false }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject);
  });
  expect(status).toBe(204);
  expect(holder.received()).toContain('X-Forwarded-Proto: https\r\n');
});

describe('an answer that only the end of its connection ends', () => {
  async function holderThat(ends: (socket: TLSSocket, raw: Socket) => void): Promise<TestServer<tls.Server>> {
    let raw: Socket;
    const server = tls.createServer(authority.issue(['IP:127.0.0.1']), (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf', () => ends(socket, raw)));
    });
    server.on('connection', (socket) => (raw = socket));
    return listen(server, 'https');
  }

  test.each<[string, string, (socket: TLSSocket, raw: Socket) => void]>([
    ['is broken by a reset', 'truncated', (_, raw) => void raw.resetAndDestroy()],
    ['is whole when that ends in order', 'completed', (socket) => void socket.end()],
  ])('%s', async (_, outcome, ends) => {
    const holder = await holderThat(ends);
    const messages = forwardedTo(holder);
    const { connect } = await rig(holder.origin, { tls: { ca: authority.cert } });
    (await connect()).send(GET);
    await vi.waitFor(() => expect(messages).toMatchObject([{ outcome }]));
  });
});
