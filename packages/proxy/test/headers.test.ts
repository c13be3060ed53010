import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, rawHolder } from '../../../test/support/http/servers.ts';
import { createRoleHolderProxy, roleHolderProxy } from '../src/index.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';

describe('fields that this instance set before', () => {
  const holderAnswer =
    'HTTP/1.1 200 OK\r\nX-Both: holder\r\nVary: Accept, origin\r\nSet-Cookie: h=1\r\nSet-Cookie: h=2\r\nContent-Type: text/plain\r\nX-L: caf\xe9\r\nContent-Length: 2\r\n\r\nok';

  function check(lines: string[]): void {
    const of = (name: string): string[] =>
      lines.filter((line) => line.toLowerCase().startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
    expect(of('x-both')).toEqual(['holder']);
    expect(of('x-local')).toEqual(['local']);
    expect(of('vary').join(', ').toLowerCase().split(', ').toSorted()).toEqual(expect.arrayContaining(['accept', 'origin']));
    expect(of('set-cookie').toSorted()).toEqual(['h=1', 'h=2', 'l=1']);
    expect(of('content-type')).toEqual(['text/plain']);
    expect(of('content-length')).toEqual(['2']);
    expect(of('etag')).toEqual([]);
    expect(of('x-l')).toEqual(['caf\xe9']);
  }

  test('given by an adapter: the same', async () => {
    const holder = await rawHolder((socket) => void socket.end(Buffer.from(holderAnswer, 'latin1')));
    const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
    const front = await httpServer((request, response) => {
      const headers = {
        'X-Both': 'local',
        'x-local': 'local',
        vary: 'Origin',
        'set-cookie': ['l=1'],
        'content-type': 'text/html',
        'content-length': 999,
        etag: '"local"',
        none: undefined,
      };
      proxy.apply(proxy.decide(request), { request, response, headers });
    });
    const client = await RawClient.connect(front.port);
    check([...(await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).lines]);
  });

  test.each(['€', 'a\r\nb: c', '\0'])(
    'given by an adapter, and none that can be written (%j): it alone is left out',
    async (value) => {
      for (const holder of [await httpServer((_, response) => void response.end('ok')), null]) {
        const leasehold = fakeLeasehold(heldBy(holder?.origin ?? null));
        const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
        const headers = { 'x-bad': value, 'x-list': ['fine', value], 'no name': 'x', 'x-good': 'local' };
        const front = await httpServer(
          (request, response) => void proxy.apply(proxy.decide(request), { request, response, headers }),
        );
        const client = await RawClient.connect(front.port);
        const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
        expect(answer.status).toBe(holder === null ? 503 : 200);
        expect(answer.lines.filter((line) => /^(x-|no)/.test(line))).toEqual(['x-good: local']);
      }
    },
  );
});

test('roleHolderProxy is middleware that carries its proxy', async () => {
  const holder = await httpServer((_, response) => void response.end('holder'));
  const leasehold = fakeLeasehold(heldBy(holder.origin));
  const handler = roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
  const front = await httpServer((request, response) => handler(request, response, () => response.end('local')));
  const client = await RawClient.connect(front.port);
  expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('holder');
  expect((await client.send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
  leasehold.lease.isHeld = true;
  expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
  handler.proxy.close();
});
