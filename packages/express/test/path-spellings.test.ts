import { expect, test } from 'vitest';
import { pathSpellings } from '../../../test/support/path-spellings.ts';
import { rawExchange } from '../../../test/support/raw.ts';
import { startPair } from './support/copies.ts';
import { hosts } from './support/hosts.ts';

test.each(hosts)('no spelling of a path makes $name run a route of the holder elsewhere', async (host) => {
  const ran = { holder: 0, other: [] as string[] };
  const { other } = await startPair(host, {
    routes: ({ app, label }) => {
      app.use('/maintenance', (request, response) => {
        if (label === 'other') ran.other.push(request.originalUrl);
        else ran.holder++;
        response.end();
      });
    },
  });
  for (const path of pathSpellings()) await rawExchange(other.origin, [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close']);
  expect(ran.other).toEqual([]);
  expect(ran.holder).toBeGreaterThan(30);
});
