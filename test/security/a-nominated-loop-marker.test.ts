import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { heldBy } from '../support/http/fake-leasehold.ts';
import { upgrade } from '../support/http/upgrades.ts';

const reasonOf = (text: string): string => (JSON.parse(text) as { reason: string }).reason;

onEveryHost(({ rig }) => {
  test.each([
    ['GET', 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: leasehold-hop\r\n\r\n'],
    ['HEAD', 'HEAD /m HTTP/1.1\r\nHost: a\r\nConnection: close, LEASEHOLD-HOP\r\n\r\n'],
    ['two Connection fields', 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: Leasehold-Hop\r\n\r\n'],
    ['an upgrade', upgrade('/m', { connection: 'Upgrade, Leasehold-Hop' })],
    ['credentials', 'GET /m HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nConnection: Leasehold-Hop\r\n\r\n'],
  ])('does not make two instances pass a request to and fro: %s', async (name, request) => {
    const [a, b] = [await rig(null, { id: 'a-1' }), await rig(null, { id: 'b-1' })];
    Object.assign(a.leasehold.lease, heldBy(b.front.origin, 'b-1'));
    Object.assign(b.leasehold.lease, heldBy(a.front.origin, 'a-1'));
    const client = await a.connect();
    const answer = await client.send(request).response({ head: name === 'HEAD' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    if (name !== 'HEAD') expect(reasonOf(answer.text)).toBe('failover');
    expect([a.front.accepted.count, b.front.accepted.count]).toEqual([1, 1]);
    expect([a.local, b.local]).toEqual([[], []]);
  });

  test.each([
    ['forged', 'Leasehold-Hop: x'],
    ['empty', 'Leasehold-Hop:'],
    ['doubled', 'Leasehold-Hop: a\r\nleasehold-hop: b'],
    ['nominated', 'Connection: Leasehold-Hop\r\nLeasehold-Hop: a'],
    ['of another role', 'Leasehold-Hop: other;app-09;1'],
    ['of bytes above ASCII', 'Leasehold-Hop: \xff\xfe'],
  ])('that is %s refuses the request of its own sender, and no other', async (_, field) => {
    const { connect, leasehold } = await rig('http://127.0.0.1:1');
    const client = await connect();
    const answer = await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`).response();
    expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'failover']);
    leasehold.lease.isHeld = true;
    expect((await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`).response()).text).toBe('local');
  });

  test('in a trailer is no marker, and goes no further', async () => {
    const b = await rig(null, { id: 'b-1' });
    b.leasehold.lease.isHeld = true;
    const a = await rig(b.front.origin, { id: 'a-1' });
    const client = await a.connect();
    client.send(
      'POST /m HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nTrailer: Leasehold-Hop\r\n\r\n0\r\nLeasehold-Hop: x\r\n\r\n',
    );
    expect((await client.response()).text).toBe('local');
    expect(b.local).toEqual(['POST /m']);
  });
});
