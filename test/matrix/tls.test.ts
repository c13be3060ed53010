import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority } from '../support/http/certificates.ts';
import type { RawResponse } from '../support/http/raw-client.ts';
import { listen, type TestServer } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

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

onEveryHost(({ rig }) => {
  async function ask(origin: string, options: RigOptions): Promise<RawResponse> {
    const { connect } = await rig(origin, options);
    return (await connect()).send(GET).response();
  }

  describe('a holder with an https address', () => {
    test('is reached when its certificate is signed by the given authority', async () => {
      const holder = await holderWith(authority.issue(['IP:127.0.0.1']));
      const answer = await ask(holder.origin, { tls: { ca: authority.cert } });
      expect(JSON.parse(answer.text)).toMatchObject({ sni: false });
    });

    test.each([
      ['signed by nobody we know', () => ({ certificate: stranger.issue(['IP:127.0.0.1']), tls: { ca: authority.cert } })],
      ['not checked against any given authority', () => ({ certificate: authority.issue(['IP:127.0.0.1']), tls: {} })],
      ['for another address', () => ({ certificate: authority.issue(['IP:127.0.0.2']), tls: { ca: authority.cert } })],
      [
        'for the name that the client asked for',
        () => ({ certificate: authority.issue(['DNS:public.example']), tls: { ca: authority.cert } }),
      ],
    ])('is refused with a certificate %s: nothing is sent', async (_, given) => {
      const { certificate, tls } = given();
      let asked = 0;
      const holder = await holderWith(certificate);
      holder.server.on('request', () => asked++);
      const answer = await ask(holder.origin, { tls });
      expect(JSON.parse(answer.text)).toMatchObject({ status: 503, reason: 'unreachable' });
      expect(answer.headers['proxy-status']).toContain('error=tls_certificate_error');
      expect(asked).toBe(0);
    });
  });
});
