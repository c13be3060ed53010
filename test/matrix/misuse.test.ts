import { describe, expect, test, vi } from 'vitest';
import { heldBy } from '../support/http/fake-leasehold.ts';
import { httpServer } from '../support/http/servers.ts';
import { spyLogger } from '../support/http/spy-logger.ts';
import { upgrade } from '../support/http/upgrades.ts';
import { onEveryHost } from './on-every-host.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

const reasonOf = (text: string): string => (JSON.parse(text) as { reason: string }).reason;

onEveryHost(({ rig }) => {
  test.each([
    ['no prefix at all', []],
    ['a prefix without a slash', ['m']],
    ['a prefix that is none', [7 as unknown as string]],
    ['a pattern', ['/m/*']],
  ])('an application with %s does not start', async (_, prefixes) => {
    await expect(rig(null, { prefixes })).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_PREFIX' });
  });

  test('a role that is not registered: every request is local, and one line says so', async () => {
    const logger = spyLogger();
    const { connect, local } = await rig('http://127.0.0.1:1', { role: 'maintenence', logger });
    expect((await (await connect()).send(GET).response()).text).toBe('local');
    expect((await (await connect()).send(upgrade('/m')).response()).status).toBe(101);
    expect(local).toEqual(['GET /m']);
    expect(logger.warn.mock.calls.filter(([, message]) => message.includes("role 'maintenence' is not registered"))).toHaveLength(
      1,
    );
  });

  describe('an address on the row', () => {
    test.each([
      ['10.0.0.2:3000', 'no-address'],
      ['http://10.0.0.2:3000/base', 'no-address'],
      ['http://user:secret@10.0.0.2', 'no-address'],
      ['javascript:alert(1)', 'no-address'],
      ['', 'no-address'],
      [null, 'no-address'],
    ])('%j is called by nobody', async (address, reason) => {
      const { connect } = await rig(address, { logger: spyLogger() });
      const answer = await (await connect()).send(GET).response();
      expect([answer.status, reasonOf(answer.text), answer.headers['retry-after']]).toEqual([503, reason, '5']);
    });

    test('of another host that is a loopback address is called, and one line warns of it', async () => {
      const holder = await httpServer((_, response) => void response.end('holder'));
      const logger = spyLogger();
      const { connect } = await rig(holder.origin, { logger });
      const client = await connect();
      for (let round = 0; round < 2; round++) expect((await client.send(GET).response()).text).toBe('holder');
      expect(logger.warn.mock.calls).toEqual([
        [expect.objectContaining({ address: holder.origin }), expect.stringContaining('loopback')],
      ]);
    });

    test('that changes is followed at once', async () => {
      const [first, second] = [
        await httpServer((_, response) => void response.end('1')),
        await httpServer((_, response) => void response.end('2')),
      ];
      const { connect, leasehold } = await rig(first.origin);
      const client = await connect();
      expect((await client.send(GET).response()).text).toBe('1');
      Object.assign(leasehold.lease, heldBy(second.origin, 'app-03-cccc'));
      expect((await client.send(GET).response()).text).toBe('2');
    });
  });

  describe('the order of the decisions', () => {
    const marked = GET.replace('Host: a', 'Host: a\r\nLeasehold-Hop: x');

    test('outside the prefixes all is local, whatever else is said', async () => {
      const { connect } = await rig(null, { maxInFlight: 1 });
      expect((await (await connect()).send(marked.replace('/m', '/m2')).response()).text).toBe('local');
    });

    test('held here comes before the marker', async () => {
      const { connect, leasehold } = await rig(null);
      leasehold.lease.isHeld = true;
      expect((await (await connect()).send(marked).response()).text).toBe('local');
    });

    test('the marker comes before what is known of the holder', async () => {
      const { connect, leasehold } = await rig(null);
      leasehold.lease.currentHolder = null;
      expect(reasonOf((await (await connect()).send(marked).response()).text)).toBe('failover');
    });

    test('the holder comes before the limit in flight, and that before the request itself', async () => {
      const holder = await httpServer(() => {});
      const { connect, leasehold } = await rig(holder.origin, { maxInFlight: 1 });
      (await connect()).send(GET);
      await vi.waitFor(() => expect(holder.accepted.count).toBe(1));
      const odd = 'POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n';
      expect(reasonOf((await (await connect()).send(odd).response()).text)).toBe('overloaded');
      leasehold.lease.currentHolder = leasehold.instance.id;
      expect(reasonOf((await (await connect()).send(odd).response()).text)).toBe('self');
    });
  });
});
