import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { origin, startPair } from './support/apps.ts';

const BROWSER = 'https://shop.test';

function addCors(app: FastifyInstance): void {
  app.register(cors, { origin: [BROWSER] });
}

/** Says on the answer by which copies the request came. */
function noteCopies(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => void reply.header('x-ran-on', app.leasehold.instance.label));
}

async function ask(app: FastifyInstance, method: string, fields: Record<string, string> = {}): Promise<Response> {
  return fetch(`${origin(app)}/maintenance/x`, { method, headers: { origin: BROWSER, ...fields } });
}

const preflight = { 'access-control-request-method': 'DELETE' };

function allowed(answer: Response): string | null {
  return answer.headers.get('access-control-allow-origin');
}

describe.each([
  ['before', { before: addCors }],
  ['after', { routes: addCors }],
] as const)('@fastify/cors %s the proxy', (when, where) => {
  async function pair() {
    const routes = (app: FastifyInstance): void => {
      noteCopies(app);
      if ('routes' in where) where.routes(app);
      app.get('/maintenance/x', async () => 'ok');
    };
    return startPair({ ...where, routes });
  }

  test('a forwarded answer has the fields once', async () => {
    const { other } = await pair();
    const answer = await ask(other, 'GET');
    expect([answer.status, allowed(answer), answer.headers.get('x-ran-on')]).toEqual([200, BROWSER, 'holder']);
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  test(`a preflight is answered by ${when === 'before' ? 'the copy that was asked' : 'the holder'}`, async () => {
    const { other } = await pair();
    const answer = await ask(other, 'OPTIONS', preflight);
    expect([answer.status, allowed(answer)]).toEqual([204, BROWSER]);
    expect(answer.headers.get('x-ran-on')).toBe(when === 'before' ? 'other' : 'holder');
  });

  test(`a refusal may ${when === 'before' ? '' : 'not '}be read by a browser`, async () => {
    const { holder, other } = await pair();
    await new Promise((resolve) => holder.server.close(resolve).closeAllConnections());
    const answer = await ask(other, 'GET');
    expect([answer.status, allowed(answer)]).toEqual([503, when === 'before' ? BROWSER : null]);
  });
});
