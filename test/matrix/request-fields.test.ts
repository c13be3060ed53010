import { describe, expect, test } from 'vitest';
import { spyLogger } from '../support/http/spy-logger.ts';
import { httpServer, rawHolder } from '../support/http/servers.ts';
import { onEveryHost } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

const ADDED = /^(Leasehold-Hop|X-Forwarded-|Via)/;

onEveryHost(({ rig }) => {
  /** Field lines that a holder gets for a request. */
  async function forwarded(request: string, options: RigOptions = {}): Promise<string[]> {
    const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const { connect } = await rig(holder.origin, options);
    await (await connect()).send(request).response();
    const [head = ''] = holder.received().split('\r\n\r\n');
    return head.split('\r\n').slice(1);
  }

  /** Field lines that a client gets for an answer of the holder. */
  async function relayed(answer: string, options: RigOptions = {}): Promise<string[]> {
    const holder = await rawHolder((socket) => void socket.end(Buffer.from(answer, 'latin1')));
    const { connect } = await rig(holder.origin, options);
    const client = await connect();
    return [...(await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).lines];
  }

  describe('request fields', () => {
    test('keep case, order, duplicates and latin-1 bytes', async () => {
      const fields = [
        'hOsT: example.com:8080',
        'x-b: 2',
        'X-B: 1',
        'COOKIE: a=1',
        'Cookie: b=2',
        'X-L: caf\xe9',
        'X-Empty: ',
        'x-b: 3',
      ];
      const lines = await forwarded(`GET /m HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
      expect(lines.filter((line) => !ADDED.test(line))).toEqual(fields);
    });

    test('latin-1 bytes survive beside a body, and in Content-Disposition behind a Content-Length', async () => {
      const lines = await forwarded(
        'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Disposition: attachment; filename="caf\xe9"\r\nX-L: \xc3\xa9\r\n\r\nabc',
      );
      expect(lines).toEqual(
        expect.arrayContaining(['Content-Disposition: attachment; filename="caf\xe9"', 'X-L: \xc3\xa9', 'Content-Length: 3']),
      );
    });

    test('fields of one hop stay here', async () => {
      const lines = await forwarded(
        'GET /m HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nTE: gzip\r\nTrailer: X\r\nUpgrade: foo\r\n\r\n',
      );
      expect(lines.filter((line) => !ADDED.test(line))).toEqual(['Host: a']);
    });

    test('TE: trailers is passed on for what it asks', async () => {
      const lines = await forwarded('GET /m HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: gzip;q=0.5, Trailers\r\n\r\n');
      expect(lines).toEqual(expect.arrayContaining(['TE: trailers', 'Connection: TE']));
    });

    test('the marker names role, instance and token, and comes first', async () => {
      const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
      const role = 'caf\u00e9; nightly';
      const { connect } = await rig(holder.origin, { role, lease: { role }, id: 'app;01' });
      await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(holder.received().split('\r\n')[1]).toBe('Leasehold-Hop: caf%C3%A9%3B%20nightly;app%3B01;0');
    });

    test('of several Host fields the first counts, as it does here', async () => {
      const lines = await forwarded('GET /m HTTP/1.1\r\nHost: first\r\nHost: second\r\n\r\n');
      expect(lines.filter((line) => line.startsWith('Host'))).toEqual(['Host: first']);
      expect(lines).toContain('X-Forwarded-Host: first');
    });

    test('an HTTP/1.0 client without Host gets that of the holder, and no X-Forwarded-Host', async () => {
      const lines = await forwarded('GET /m HTTP/1.0\r\n\r\n');
      expect(lines.find((line) => line.startsWith('Host'))).toMatch(/^Host: 127\.0\.0\.1:\d+$/);
      expect(lines.join()).not.toContain('X-Forwarded-Host');
      expect(lines).toContain('Via: 1.0 leasehold');
    });

    test('Via is added behind those that are there, under the name that was chosen', async () => {
      const lines = await forwarded('GET /m HTTP/1.1\r\nHost: a\r\nVia: 1.0 edge\r\n\r\n', { pseudonym: 'app-03' });
      expect(lines.filter((line) => line.startsWith('Via'))).toEqual(['Via: 1.0 edge', 'Via: 1.1 app-03']);
    });
  });

  describe('X-Forwarded-*', () => {
    const lies =
      'X-Forwarded-For: 6.6.6.6\r\nx-forwarded-proto: https\r\nX-FORWARDED-HOST: evil\r\nX-Forwarded-Port: 443\r\nForwarded: for=6.6.6.6\r\n';
    const picked = (lines: string[]): string[] => lines.filter((line) => /^(x-)?forwarded/i.test(line));

    test('are kept and continued under trust', async () => {
      const lines = await forwarded(`GET /m HTTP/1.1\r\nHost: a\r\n${lies}X-Forwarded-For: 7.7.7.7\r\n\r\n`, {
        trustForwarded: true,
      });
      expect(picked(lines)).toEqual([
        'X-Forwarded-Port: 443',
        'Forwarded: for=6.6.6.6',
        'X-Forwarded-For: 6.6.6.6, 7.7.7.7, 127.0.0.1',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: evil',
      ]);
    });

    test('are begun under trust where there are none', async () => {
      expect(picked(await forwarded('GET /m HTTP/1.1\r\nHost: a\r\n\r\n', { trustForwarded: true }))).toEqual([
        'X-Forwarded-For: 127.0.0.1',
        'X-Forwarded-Proto: http',
        'X-Forwarded-Host: a',
      ]);
    });

    test('are trusted as a function of the request says, and true alone is trust', async () => {
      const byPort: RigOptions = { trustForwarded: (request) => request.socket.remotePort === -1 };
      expect(picked(await forwarded(`GET /m HTTP/1.1\r\nHost: a\r\n${lies}\r\n`, byPort))[0]).toBe('X-Forwarded-For: 127.0.0.1');
    });
  });

  describe('a trustForwarded that fails', () => {
    test.each([
      [
        'throws',
        () => {
          throw new Error('broken');
        },
      ],
      ['rejects', () => Promise.reject(new Error('broken')) as unknown as boolean],
      ['answers with a promise', () => Promise.resolve(true) as unknown as boolean],
      ['answers with undefined', () => undefined as unknown as boolean],
    ])('as it %s, trusts nobody, and the request goes on', async (_, trustForwarded) => {
      const lines = await forwarded('GET /m HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n', {
        trustForwarded,
        logger: spyLogger(),
      });
      expect(lines).toContain('X-Forwarded-For: 127.0.0.1');
    });
  });

  describe('limits of heads', () => {
    test('a request with nearly a thousand fields is refused whole, not passed on without some', async () => {
      const holder = await httpServer((_, response) => void response.end('executed'));
      const { connect } = await rig(holder.origin);
      const many = 'a:\r\n'.repeat(990);
      const client = await connect();
      const answer = await client.send(`POST /m HTTP/1.1\r\nHost: a\r\n${many}Content-Length: 3\r\n\r\nabc`).response();
      expect(answer.status).toBe(431);
      expect(JSON.parse(answer.text).reason).toBe('too-many-header-fields');
      expect(holder.accepted.count).toBe(0);
    });

    test('the marker is found by the second instance behind any number of fields', async () => {
      const second = await rig('http://127.0.0.1:1');
      const first = await rig(second.front.origin);
      const client = await first.connect();
      const answer = await client.send(`GET /m HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(980)}\r\n`).response();
      expect(JSON.parse(answer.text).reason).toBe('failover');
    });

    test("a head that the holder finds too large is answered with the holder's 431", async () => {
      const holder = await httpServer((_, response) => void response.end('executed'));
      const { connect } = await rig(holder.origin);
      const client = await connect();
      const answer = await client.send(`GET /m HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(16_360)}\r\n\r\n`).response();
      expect(answer.status).toBe(431);
      expect(answer.text).not.toContain('executed');
    });

    test('an answer whose head is too large is a 503 that does not claim that nothing happened', async () => {
      const big = `HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`;
      const holder = await rawHolder((socket) => void socket.end(big));
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(answer.status).toBe(503);
      expect(JSON.parse(answer.text).reason).toBe('outcome-unknown');
      const lines = await relayed(big, { maxHeaderSize: 65_536 });
      expect(lines.map(({ length }) => length)).toContain(20_007);
    });

    test('an answer with thousands of fields arrives whole', async () => {
      const many = Array.from({ length: 2_500 }, (_, index) => `A${index}:`).join('\r\n');
      const lines = await relayed(`HTTP/1.1 200 OK\r\n${many}\r\nX-Last: 1\r\nContent-Length: 0\r\n\r\n`, {
        maxHeaderSize: 65_536,
      });
      expect(lines.length).toBeGreaterThan(2_500);
      expect(lines).toContain('X-Last: 1');
    });
  });
});
