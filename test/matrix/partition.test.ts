import type { AffinityKey } from '@leasehold/proxy';
import { describe, expect, test } from 'vitest';
import { heldBy } from '../support/http/fake-leasehold.ts';
import { rejectedWith } from '../support/http/published.ts';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { echo, switching, upgrade } from '../support/http/upgrades.ts';
import { onEveryHost } from './on-every-host.ts';

function get(key: string | null, path = '/d/x'): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${key === null ? '' : `X-Device-Id: ${key}\r\n`}\r\n`;
}

onEveryHost(({ partitionRig }) => {
  test('each role of a partition has its own holder: here, there, and nobody', async () => {
    const there = await httpServer((request, response) => response.end(`there ${String(request.headers['leasehold-hop'])}`));
    const { connect, local, leasehold } = await partitionRig();
    leasehold.roles[0].isHeld = true;
    Object.assign(leasehold.roles[1], heldBy(there.origin));
    const client = await connect();
    expect((await client.send(get('ab')).response()).text).toBe('local');
    expect((await client.send(get('abc')).response()).text).toBe('there devices%3Apartition-1;app-01-aaaa;0');
    Object.assign(leasehold.roles[1], { currentHolder: null });
    const nobody = await client.send(get('abc')).response();
    expect(nobody).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(nobody.text)).toMatchObject({ reason: 'no-holder', role: 'devices:partition-1' });
    expect(local).toEqual(['GET /d/x']);
  });

  test('an upgrade goes by its key', async () => {
    const there = await switching(echo);
    const { connect, leasehold } = await partitionRig();
    Object.assign(leasehold.roles[1], heldBy(there.origin));
    const client = await connect();
    client.send(upgrade('/d').replace('Host: a', 'Host: a\r\nX-Device-Id: abc'));
    expect((await client.response()).status).toBe(101);
    await client.send('x').untilText('echo:x');
  });

  test('streams of the role that moved are cut, and no others', async () => {
    const stream = await rawHolder((socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'));
    const { connect, leasehold } = await partitionRig({ onRoleChange: 'close' });
    for (const role of leasehold.roles) Object.assign(role, { ...heldBy(stream.origin), renewIntervalMs: 50 });
    const [stays, moves] = [await connect(), await connect()];
    await stays.send(get('ab')).untilText('a\r\n');
    await moves.send(get('abc')).untilText('a\r\n');
    leasehold.roles[1].currentHolder = 'app-03-cccc';
    await moves.untilClosed();
    expect(stays.closed).toBe(false);
  });

  describe('a key that is none has one answer', () => {
    const long = 'k'.repeat(1_000_000);
    test.each<[string, () => AffinityKey, number, string]>([
      ['missing', () => undefined, 400, 'affinity-key-missing'],
      ['null', () => null, 400, 'affinity-key-missing'],
      ['empty', () => '', 400, 'affinity-key-missing'],
      ['more than one', () => ['a', 'b'], 400, 'affinity-key-invalid'],
      ['of a megabyte', () => long, 400, 'affinity-key-invalid'],
      ['a number', () => 7 as unknown as string, 500, 'affinity-failed'],
      ['a promise', () => Promise.resolve('a') as unknown as string, 500, 'affinity-failed'],
      ['a promise that fails', () => Promise.reject(new Error('later')) as unknown as string, 500, 'affinity-failed'],
      [
        'an error',
        () => {
          throw new Error('broken');
        },
        500,
        'affinity-failed',
      ],
      [
        'no error, thrown',
        () => {
          throw undefined as unknown as Error;
        },
        500,
        'affinity-failed',
      ],
    ])('%s', async (_, affinityKey, status, reason) => {
      const messages = rejectedWith('PATCH');
      const { connect, local, leasehold } = await partitionRig({ affinityKey });
      const client = await connect();
      const answer = await client.send(get('x').replace('GET', 'PATCH')).response();
      expect([answer.status, answer.headers['content-type'], answer.headers['retry-after']]).toEqual([
        status,
        'application/problem+json',
        undefined,
      ]);
      expect(JSON.parse(answer.text)).toMatchObject({ status, reason, role: 'devices' });
      expect([leasehold.resolved, local]).toEqual([[], []]);
      expect(messages).toMatchObject([{ reason, role: 'devices', holder: null }]);
      // Nothing of it is stuck: the connection serves the next request.
      expect((await client.send(get('x', '/e')).response()).text).toBe('local');
    });
  });
});
