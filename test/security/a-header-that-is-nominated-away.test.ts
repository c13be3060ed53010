import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { rawHolder } from '../support/http/servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

onEveryHost(({ rig }) => {
  test('by the client is never one that frames, routes, or is the proxy’s own', async () => {
    const holder = await rawHolder((socket) => void socket.write(OK));
    const client = await (await rig(holder.origin)).connect();
    const names =
      'host, content-length, transfer-encoding, leasehold-hop, x-forwarded-for, x-forwarded-host, x-forwarded-proto, via';
    await client.send(`POST /m HTTP/1.1\r\nHost: a\r\nConnection: ${names}\r\nContent-Length: 3\r\n\r\nabc`).response();
    const [head = '', body] = holder.received().split('\r\n\r\n');
    expect(head.split('\r\n').slice(1).toSorted()).toEqual([
      'Content-Length: 3',
      'Host: a',
      'Leasehold-Hop: maintenance;app-01-aaaa;0',
      'Via: 1.1 leasehold',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Host: a',
      'X-Forwarded-Proto: http',
    ]);
    expect(body).toBe('abc');
  });

  test('takes the claim of the client along, not what the proxy says in its place, under trust too', async () => {
    const holder = await rawHolder((socket) => void socket.write(OK));
    const client = await (await rig(holder.origin, { trustForwarded: true })).connect();
    const claims = 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: gopher\r\nConnection: x-forwarded-for, x-forwarded-proto';
    await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${claims}\r\n\r\n`).response();
    expect(holder.received()).not.toMatch(/6\.6\.6\.6|gopher/);
    expect(holder.received()).toContain('X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n');
  });

  test('is really gone: what was meant for this hop alone does not reach the holder', async () => {
    const holder = await rawHolder((socket) => void socket.write(OK));
    const client = await (await rig(holder.origin)).connect();
    const fields = 'Proxy-Authorization: Basic c2VjcmV0\r\nX-Internal: 1\r\nConnection: X-Internal\r\nKeep-Alive: 9\r\nTE: gzip';
    await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`).response();
    expect(holder.received()).not.toMatch(/proxy-authorization|x-internal|keep-alive|^te:/im);
  });

  test('by the holder is never the length of its answer', async () => {
    const holder = await rawHolder((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Gone: 1\r\nConnection: x-gone, content-length\r\nContent-Length: 2\r\n\r\nok');
    });
    const client = await (await rig(holder.origin)).connect();
    const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(answer).toMatchObject({ text: 'ok', headers: { 'content-length': '2' } });
    expect(answer.headers['x-gone']).toBeUndefined();
  });
});
