import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isLeaseholdError } from '@leasehold/core';
import { describe, expect, test, vi } from 'vitest';
import { type FakeLeasehold } from '../support/http/fake-leasehold.ts';
import { rejectedWith } from '../support/http/published.ts';
import { type RawResponse } from '../support/http/raw-client.ts';
import { spyLogger } from '../support/http/spy-logger.ts';
import { httpServer, unusedOrigin } from '../support/http/servers.ts';
import { onEveryHost, unless } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

const HOLDER = 'http://10.0.0.2:3000';
const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ host, rig }) => {
  async function answerFor(
    options: RigOptions,
    change: (leasehold: FakeLeasehold) => void = () => {},
    request = 'GET /m',
  ): Promise<RawResponse> {
    const { connect, leasehold } = await rig(HOLDER, options);
    change(leasehold);
    const client = await connect();
    client.send(`${request} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return client.response({ head: request.startsWith('HEAD') });
  }

  describe('the answer of a refusal', () => {
    test('is a problem, with its reason for machines, and nothing internal', async () => {
      const answer = await answerFor({}, ({ lease }) => (lease.currentHolder = null));
      expect(answer).toMatchObject({ status: 503, statusText: 'Service Unavailable' });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'retry-after': '1',
        'proxy-status': 'leasehold; error=destination_unavailable; details="no-holder"',
      });
      expect(JSON.parse(answer.text)).toEqual({
        title: 'Service Unavailable',
        status: 503,
        detail: expect.stringContaining('Nothing was executed'),
        reason: 'no-holder',
        role: 'maintenance',
      });
    });

    test('names holder, address and instance only when exposed', async () => {
      const origin = await unusedOrigin();
      const refused = await answerFor({}, ({ lease }) => (lease.currentHolderAddress = origin));
      expect(`${refused.lines.join()}${refused.text}`).not.toMatch(/app-0|127\.0\.0\.1/);
      const exposed = await answerFor({ expose: true }, ({ lease }) => (lease.currentHolderAddress = origin));
      expect(JSON.parse(exposed.text)).toMatchObject({ instance: 'app-01-aaaa', holder: 'app-02-bbbb', address: origin });
    });

    test('has no body for HEAD, with the length it would have', async () => {
      const answer = await answerFor({}, ({ lease }) => (lease.currentHolder = null), 'HEAD /m');
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['content-length'])).toBeGreaterThan(50);
    });

    test.each([
      ['what is left of the lease of a holder that is out of reach', 12_300, '13'],
      ['the renew interval when nothing is known of the lease', 0, '5'],
      ['at least one second', 3, '1'],
    ])('Retry-After is %s', async (_, holderRemainingMs, expected) => {
      const origin = await unusedOrigin();
      const answer = await answerFor({}, ({ lease }) =>
        Object.assign(lease, { currentHolderAddress: origin, holderRemainingMs }),
      );
      expect(JSON.parse(answer.text).reason).toBe('unreachable');
      expect(answer.headers['retry-after']).toBe(expected);
    });

    test.each([
      [250, '1'],
      [1_001, '2'],
      [60_000, '60'],
    ])('Retry-After follows a renew interval of %i ms', async (renewIntervalMs, expected) => {
      const answer = await answerFor({}, ({ lease }) => Object.assign(lease, { currentHolderAddress: null, renewIntervalMs }));
      expect(JSON.parse(answer.text).reason).toBe('no-address');
      expect(answer.headers['retry-after']).toBe(expected);
    });

    test('Retry-After is a second while the role changes hands, whatever the lease', async () => {
      const change = (view: object): void =>
        void Object.assign(view, { currentHolder: null, holderRemainingMs: 12_300, renewIntervalMs: 60_000 });
      const answer = await answerFor({}, ({ lease }) => change(lease));
      expect([JSON.parse(answer.text).reason, answer.headers['retry-after']]).toEqual(['no-holder', '1']);
    });

    unless(host.lacks.before)('keeps the fields that were set before, so that a browser may read it', async () => {
      const localFields = { 'Access-Control-Allow-Origin': 'https://example.com', 'Content-Type': 'text/html' };
      const answer = await answerFor({ localFields }, ({ lease }) => (lease.currentHolder = null));
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': 'https://example.com',
        'content-type': 'application/problem+json',
      });
    });

    test('is published with its reason', async () => {
      const messages = rejectedWith('PUT');
      await answerFor({}, ({ lease }) => (lease.currentHolder = null), 'PUT /m');
      expect(messages).toEqual([
        { instance: 'app-01-aaaa', role: 'maintenance', holder: null, method: 'PUT', reason: 'no-holder', statusCode: 503 },
      ]);
    });
  });

  describe('the limit in flight', () => {
    test('refuses at once, queues nothing, and is given back', async () => {
      const waiting: (() => void)[] = [];
      const holder = await httpServer((_, response) => void waiting.push(() => response.end('done')));
      const { connect } = await rig(holder.origin, { maxInFlight: 2 });
      const [one, two, three] = await Promise.all([connect(), connect(), connect()]);
      one.send(GET);
      two.send(GET);
      await vi.waitFor(() => expect(waiting).toHaveLength(2));
      const refused = await three.send(GET).response();
      expect(JSON.parse(refused.text)).toMatchObject({ status: 503, reason: 'overloaded' });
      expect(holder.accepted.count).toBe(2);
      for (const finish of waiting.splice(0)) finish();
      expect((await one.response()).text).toBe('done');
      three.send(GET);
      await vi.waitFor(() => expect(waiting).toHaveLength(1));
      waiting[0]?.();
      expect((await three.response()).text).toBe('done');
    });

    test('is given back by a client that leaves', async () => {
      const holder = await httpServer(() => {});
      const { connect, front } = await rig(holder.origin, { maxInFlight: 1 });
      for (let round = 1; round <= 3; round++) {
        const client = await connect();
        client.send(GET);
        await vi.waitFor(() => expect(holder.accepted.count).toBe(round));
        client.socket.destroy();
        await vi.waitFor(() => expect([holder.sockets.size, front.sockets.size]).toEqual([0, 0]));
      }
    });

    test.each([
      ['a holder that breaks', (response: ServerResponse) => void response.destroy(), 'outcome-unknown'],
      ['an answer that is whole', (response: ServerResponse) => void response.end('done'), 'done'],
    ])('is given back by %s', async (_, answer, expected) => {
      const holder = await httpServer((_request, response) => answer(response));
      const { connect } = await rig(holder.origin, { maxInFlight: 1 });
      const client = await connect();
      for (let round = 0; round < 3; round++) {
        expect((await client.send(GET).response()).text).toContain(expected);
      }
    });
  });

  describe('a body that a parser has read', () => {
    const post = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';

    unless(host.lacks.before).each(['read', 'decoded'])(
      'is answered 500 at once when it was %s, and the log says how to mount',
      async (how) => {
        const logger = spyLogger();
        const holder = await httpServer((_request, response) => void response.end());
        const before: RigOptions['before'] = async (request) => {
          if (how === 'decoded') request.setEncoding('utf8');
          else await once(request.resume(), 'end');
        };
        const { connect } = await rig(holder.origin, { logger, before });
        const client = await connect();
        for (let round = 0; round < 2; round++) {
          const answer = await client.send(post).response();
          expect(answer.status).toBe(500);
          expect(answer.headers['retry-after']).toBeUndefined();
          expect(JSON.parse(answer.text)).toMatchObject({
            reason: 'body-already-read',
            detail: expect.stringContaining('before every body parser'),
          });
        }
        expect(holder.accepted.count).toBe(0);
        const lines = logger.error.mock.calls as [{ err: unknown }, string][];
        expect(lines).toHaveLength(1);
        expect(isLeaseholdError(lines[0]?.[0].err, 'LEASEHOLD_BODY_ALREADY_READ')).toBe(true);
        expect(lines[0]?.[1]).toContain('express.json()');
      },
    );

    unless(host.lacks.before).each([
      ['GET without a body', 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['a length of 0', 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
      ['an empty chunked body', 'POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ])('is no matter for %s', async (_, text) => {
      const holder = await httpServer((request, response) => void request.resume().on('end', () => response.end('fine')));
      const { connect } = await rig(holder.origin, { before: async (request) => void (await once(request.resume(), 'end')) });
      const client = await connect();
      expect((await client.send(text).response()).text).toBe('fine');
    });
  });
});
