import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { httpServer } from '../support/http/servers.ts';
import { spyLogger } from '../support/http/spy-logger.ts';
import { upgrade } from '../support/http/upgrades.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

const reasonOf = (text: string): string => (JSON.parse(text) as { reason: string }).reason;

onEveryHost(({ rig }) => {
  test.each([
    ['refuses', () => false],
    ['answers with something else than true', () => 'yes' as unknown as boolean],
    ['answers with a promise', () => Promise.resolve(true) as unknown as boolean],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('is not called where trustAddress %s: no request, no upgrade, no redirect', async (_, trustAddress) => {
    const stranger = await httpServer((_request, response) => void response.end('secret'));
    for (const mode of ['forward', 'redirect'] as const) {
      const { connect } = await rig(stranger.origin, { trustAddress, mode, logger: spyLogger() });
      for (const request of [GET, upgrade('/m')]) {
        const answer = await (await connect()).send(request).response();
        expect([answer.status, reasonOf(answer.text)]).toEqual([503, 'address-not-trusted']);
        expect(answer.headers.location).toBeUndefined();
        expect(`${answer.lines.join()}${answer.text}`).not.toContain(String(stranger.port));
      }
    }
    expect(stranger.accepted.count).toBe(0);
  });

  test('is asked about once it is written otherwise: a row that changes is not believed for its past', async () => {
    const [friend, stranger] = [
      await httpServer((_, response) => void response.end('friend')),
      await httpServer((_, response) => void response.end('stranger')),
    ];
    const { connect, leasehold } = await rig(friend.origin, {
      trustAddress: (origin) => origin === friend.origin,
      logger: spyLogger(),
    });
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('friend');
    leasehold.lease.currentHolderAddress = stranger.origin;
    expect(reasonOf((await client.send(GET).response()).text)).toBe('address-not-trusted');
    expect(stranger.accepted.count).toBe(0);
  });

  test.each([
    ['absolute form', 'GET http://STRANGER/m HTTP/1.1\r\nHost: STRANGER\r\n\r\n'],
    ['Host', 'GET /m HTTP/1.1\r\nHost: STRANGER\r\n\r\n'],
    ['X-Forwarded-Host', 'GET /m HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: STRANGER\r\nForwarded: host=STRANGER\r\n\r\n'],
    ['an authority in the path', 'GET //STRANGER/m/../../m HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an at sign', 'GET /m/@STRANGER/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('of the client is no address: %s goes to the holder of the row', async (_, request) => {
    const holder = await httpServer((_request, response) => void response.end('holder'));
    const stranger = await httpServer((_request, response) => void response.end('stranger'));
    const { connect, local } = await rig(holder.origin);
    const answer = await (await connect()).send(request.replaceAll('STRANGER', `127.0.0.1:${stranger.port}`)).response();
    expect([answer.text, stranger.accepted.count]).toEqual(['holder', 0]);
    expect(local).toEqual([]);
  });
});
