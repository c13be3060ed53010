import { describe, expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { httpServer, rawHolder } from '../support/http/servers.ts';

onEveryHost(({ rig }) => {
  describe('of a request reaches no holder', () => {
    test.each([
      ['a bare line feed', 'X: a\nLeasehold-Injected: 1'],
      ['a bare carriage return', 'X: a\rLeasehold-Injected: 1'],
      ['a NUL', 'X: a\0b'],
      ['a folded line', 'X: a\r\n Leasehold-Injected: 1'],
      ['a name with a line break', 'X\n: 1'],
      ['a Host with a line break', 'Host: a\nLeasehold-Injected: 1'],
    ])('%s', async (_, field) => {
      const holder = await httpServer((_request, response) => void response.end('executed'));
      const { connect, local } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`).response();
      expect(answer.status).toBe(400);
      expect([holder.accepted.count, local]).toEqual([0, []]);
    });
  });

  test('stays encoded in a request target', async () => {
    const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const { connect } = await rig(holder.origin);
    await (await connect()).send('GET /m/%0d%0aX-Injected:%201 HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(holder.received().split('\r\n')[0]).toBe('GET /m/%0d%0aX-Injected:%201 HTTP/1.1');
    expect(holder.received()).not.toMatch(/^X-Injected/m);
  });

  test('in the name of a role or an instance is encoded in the marker', async () => {
    const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const role = 'a\r\nX-Injected: 1';
    const { connect } = await rig(holder.origin, { role, lease: { role }, id: 'b\r\nX-Injected: 2' });
    await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(holder.received()).not.toMatch(/^X-Injected/m);
    expect(holder.received()).toContain('Leasehold-Hop: a%0D%0AX-Injected%3A%201;b%0D%0AX-Injected%3A%202;0\r\n');
  });

  describe('of an answer reaches no client', () => {
    test.each([
      ['a bare line feed', 'X: a\nX-Injected: 1'],
      ['a bare carriage return', 'X: a\rX-Injected: 1'],
      ['a NUL', 'X: a\0b'],
      ['a vertical tab', 'X: a\x0bb'],
    ])('%s', async (_, field) => {
      const holder = await rawHolder((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${field}\r\nContent-Length: 0\r\n\r\n`));
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(answer.status).toBe(503);
      expect(answer.lines.join('\n')).not.toContain('Injected');
    });
  });
});
