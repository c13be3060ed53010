import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { httpServer } from '../support/http/servers.ts';
import { upgrade } from '../support/http/upgrades.ts';

/** Spellings that one router or another takes for a path below `/maintenance`. */
const spellings = [
  '/MAINTENANCE/x',
  '/%6daintenance/x',
  '/m%61inten%61nce',
  '/%4Daintenance',
  '//maintenance/x',
  '///maintenance',
  '/./maintenance/x',
  '/x/../maintenance/y',
  '/x/%2e%2E/maintenance',
  '/../../maintenance',
  '/x\\..\\maintenance',
  '/\\maintenance',
  '/maintenance;v=1',
  '/maintenance/',
  '/maintenance?x',
  '/maintenance#x',
  'http://example.com/maintenance/x',
  'HTTP://example.com/Maintenance',
  'http://example.com//maintenance',
];

onEveryHost(({ rig }) => {
  test.each(spellings)('%s is the holder’s, and nothing of it runs here', async (target) => {
    const holder = await httpServer((_request, response) => void response.end('holder'));
    const { connect, local } = await rig(holder.origin, { prefixes: ['/maintenance'] });
    const answer = await (await connect()).send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).response();
    expect([answer.text, local]).toEqual(['holder', []]);
  });

  test.each(['/maintenance2', '/x/maintenance', '/x?next=/maintenance', '/maintenance%2Fx', '/api'])(
    '%s is not: it runs here',
    async (target) => {
      const { connect, local } = await rig('http://127.0.0.1:1', { prefixes: ['/maintenance'] });
      expect((await (await connect()).send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).response()).text).toBe('local');
      expect(local).toHaveLength(1);
    },
  );

  test.each(['/MAINTENANCE', '//maintenance', '/%6daintenance', '/x/../maintenance'])(
    'an upgrade of %s is the holder’s too',
    async (target) => {
      const { connect } = await rig(null, { prefixes: ['/maintenance'] });
      expect((await (await connect()).send(upgrade(target)).response()).status).toBe(503);
    },
  );
});
