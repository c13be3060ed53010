import { createLeasehold, isLeaseholdError } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { requireRole } from '@leasehold/express';
import type { ErrorRequestHandler } from 'express';
import { describe, expect, test } from 'vitest';
import { type Parts, startPair } from './support/copies.ts';
import { type Host, hosts } from './support/hosts.ts';
import { rawExchange } from '../../../test/support/raw.ts';

function guardedRoutes({ app, leasehold, label }: Parts, { express }: Host): void {
  const router = express.Router().use(requireRole(leasehold, 'maintenance'));
  router.get('/jobs', (_request, response) => void response.send(label));
  app.use('/admin', router);
  app.post(
    '/run',
    express.json(),
    requireRole(leasehold, 'maintenance'),
    (request, response) => void response.json(request.body),
  );
}

describe.each(hosts)('$name', (host: Host) => {
  test('the holder runs the route', async () => {
    const { holder } = await startPair(host, { routes: guardedRoutes });
    expect(await (await fetch(`${holder.origin}/admin/jobs`)).text()).toBe('holder');
  });

  test('another copy answers 503 with Retry-After and the body of the proxy, and runs nothing', async () => {
    const { other } = await startPair(host, { routes: guardedRoutes });
    const answer = await fetch(`${other.origin}/admin/jobs`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.headers.get('proxy-status')).toBe('leasehold; error=destination_unavailable; details="not-held"');
    const body = (await answer.json()) as object;
    expect(body).toMatchObject({ status: 503, reason: 'not-held', role: 'maintenance', title: 'Service Unavailable' });
    expect(Object.keys(body)).toEqual(['title', 'status', 'detail', 'reason', 'role']);
  });

  test('to HEAD it answers with the head alone, and the connection goes on', async () => {
    const { other } = await startPair(host, { routes: guardedRoutes });
    const lines = ['HEAD /admin/jobs HTTP/1.1', 'Host: app.test', '', 'GET /admin/jobs HTTP/1.1', 'Host: app.test'];
    const answers = await rawExchange(other.origin, [...lines, 'Connection: close']);
    const [head = '', ...rest] = answers.split('HTTP/1.1 503 Service Unavailable\r\n').slice(1);
    expect(head).toMatch(/content-length: [1-9]/i);
    expect(head).toMatch(/\r\n\r\n$/);
    expect(rest).toEqual([expect.stringContaining('"reason":"not-held"')]);
  });

  test('what runs after it sees nothing but the request: no error, and none of its own is caught', async () => {
    const calls: unknown[][] = [];
    const { holder, other } = await startPair(host, {
      routes: ({ app, leasehold }) => {
        const guard = requireRole(leasehold, 'maintenance');
        app.get('/calls', (request, response, next) =>
          guard(request, response, (...values: unknown[]) => {
            calls.push(values);
            next(...values);
          }),
        );
        app.get('/calls', () => {
          throw new Error('of the handler');
        });
        app.use(((_error: Error, _request, response, _next) => void response.status(418).end()) satisfies ErrorRequestHandler);
      },
    });
    expect([(await fetch(`${holder.origin}/calls`)).status, (await fetch(`${other.origin}/calls`)).status]).toEqual([418, 503]);
    expect(calls).toEqual([[]]);
  });

  test('it may stand after body parsers, on either side of a change of holder', async () => {
    const { holder, other } = await startPair(host, { routes: guardedRoutes });
    const run = (origin: string): Promise<Response> =>
      fetch(`${origin}/run`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
    expect([(await run(holder.origin)).status, (await run(other.origin)).status]).toEqual([200, 503]);
    await holder.lease.stepDown();
    expect((await run(holder.origin)).status).toBe(503);
    await expect.poll(() => other.lease.isHeld).toBe(true);
    expect(await (await run(other.origin)).json()).toEqual({ a: 1 });
  });
});

test('a role that is not registered is refused when the application is built', () => {
  const leasehold = createLeasehold({ store: memoryStore() });
  let thrown: unknown;
  try {
    requireRole(leasehold, 'maintenanc');
  } catch (error) {
    thrown = error;
  }
  expect(isLeaseholdError(thrown, 'LEASEHOLD_UNKNOWN_ROLE')).toBe(true);
});

test('a role in place of the Leasehold is refused when the application is built', () => {
  const message = 'leasehold is "maintenance"; give what createLeasehold() returned, before the rest.';
  const misplaced = requireRole as unknown as (role: string) => void;
  expect(() => misplaced('maintenance')).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', message }));
});
