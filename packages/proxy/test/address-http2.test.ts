import http2 from 'node:http2';
import { resolveAdvertisedAddress } from '@leasehold/proxy';
import { expect, test } from 'vitest';
import { createAuthority } from '../../../test/support/http/certificates.ts';
import { listen } from '../../../test/support/http/servers.ts';

const tls = createAuthority().issue(['IP:127.0.0.1']);

test.each<[string, () => http2.Http2Server | http2.Http2SecureServer]>([
  ['without TLS', () => http2.createServer()],
  ['over TLS', () => http2.createSecureServer(tls)],
])("'auto' is no address where the server speaks HTTP/2 alone, %s: nothing could be forwarded to it", async (_, create) => {
  const { server, port } = await listen(create());
  const auto = (): string | null => resolveAdvertisedAddress('auto', server);
  expect(auto).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_ADDRESS', option: 'advertise' }));
  expect(auto).toThrow(/HTTP\/2 alone.*allowHTTP1: true/);
  expect(resolveAdvertisedAddress(`http://127.0.0.1:${port}`, server)).toBe(`http://127.0.0.1:${port}`);
});

test("'auto' is the address of a server that speaks both", async () => {
  const { server, port } = await listen(http2.createSecureServer({ ...tls, allowHTTP1: true }));
  expect(resolveAdvertisedAddress('auto', server)).toBe(`https://127.0.0.1:${port}`);
});
