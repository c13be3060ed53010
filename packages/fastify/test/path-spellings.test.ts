import type { FastifyServerOptions } from 'fastify';
import { expect, test } from 'vitest';
import { pathSpellings } from '../../../test/support/path-spellings.ts';
import { rawExchange } from '../../../test/support/raw.ts';
import { origin, startPair } from './support/apps.ts';

const lenient = { caseSensitive: false, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, useSemicolonDelimiter: true };

test.each<{ name: string; fastify: FastifyServerOptions }>([
  { name: 'Fastify', fastify: {} },
  { name: 'a lenient Fastify', fastify: { routerOptions: lenient } },
])('no spelling of a path makes $name run a route of the holder elsewhere', async ({ fastify }) => {
  const ran = { holder: 0, other: [] as string[] };
  const { other } = await startPair({
    fastify,
    routes: (app) => {
      for (const path of ['/maintenance', '/maintenance/*']) {
        app.all(path, async (request) => {
          if (app.leasehold.instance.label === 'other') ran.other.push(request.originalUrl);
          else ran.holder++;
          return '';
        });
      }
    },
  });
  for (const path of pathSpellings()) await rawExchange(origin(other), [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close']);
  expect(ran.other).toEqual([]);
  expect(ran.holder).toBeGreaterThan(30);
});
