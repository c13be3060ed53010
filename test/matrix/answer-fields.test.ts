import { describe, expect, test } from 'vitest';
import { rawHolder } from '../support/http/servers.ts';
import { onEveryHost, unless } from './on-every-host.ts';
import type { RigOptions } from './rig.ts';

onEveryHost(({ host, rig }) => {
  /** Field lines that a client gets for an answer of the holder. */
  async function relayed(answer: string, options: RigOptions = {}): Promise<string[]> {
    const holder = await rawHolder((socket) => void socket.end(Buffer.from(answer, 'latin1')));
    const { connect } = await rig(holder.origin, options);
    const client = await connect();
    return [...(await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).lines];
  }

  describe('answer fields', () => {
    const own = /^(Connection|Keep-Alive|Date|Content-Length|X-Powered-By): /;

    const fields = [
      'x-b: 2',
      'SET-COOKIE: a=1',
      'Set-Cookie: b=2; Path=/',
      'X-B: 1',
      'X-L: caf\xe9',
      'ETag: "x"',
      'x-b: 3',
      'X-Empty: ',
    ];
    const answer = `HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`;

    unless(host.lacks.freshResponses)('keep case, order, duplicates and latin-1 bytes', async () => {
      const lines = await relayed(answer);
      expect(lines.filter((line) => !own.test(line))).toEqual(fields);
    });

    test('keep each of their values, and the order of those of one name', async () => {
      const nameOf = (line: string): string => line.slice(0, line.indexOf(':')).toLowerCase();
      const byName = (lines: readonly string[]): string[] =>
        lines.map((line) => nameOf(line) + line.slice(line.indexOf(':'))).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
      const lines = await relayed(answer);
      expect(byName(lines.filter((line) => !own.test(line)))).toEqual(byName(fields));
    });

    test('latin-1 bytes survive when a stream flushes its head at once', async () => {
      const lines = await relayed(
        'HTTP/1.1 200 OK\r\nX-L: caf\xe9\r\nContent-Disposition: inline; filename="\xc3\xa9"\r\n\r\nabc',
      );
      expect(lines).toEqual(expect.arrayContaining(['X-L: caf\xe9', 'Content-Disposition: inline; filename="\xc3\xa9"']));
    });

    test('Content-Disposition keeps its bytes on either side of a length', async () => {
      for (const order of [
        ['Content-Length: 0', 'Content-Disposition: inline; filename="caf\xe9"'],
        ['Content-Disposition: inline; filename="caf\xe9"', 'Content-Length: 0'],
      ]) {
        expect(await relayed(`HTTP/1.1 200 OK\r\n${order.join('\r\n')}\r\n\r\n`)).toContain(
          'Content-Disposition: inline; filename="caf\xe9"',
        );
      }
    });

    test("the holder's Date stays, and there is one where it gave none", async () => {
      expect(await relayed('HTTP/1.1 200 OK\r\nDate: yesterday\r\nContent-Length: 0\r\n\r\n')).toContain('Date: yesterday');
      expect(
        (await relayed('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')).filter((line) => line.startsWith('Date: ')),
      ).toHaveLength(1);
    });

    test.each([
      ['HTTP/1.1 200 Fine by me', 200, 'Fine by me'],
      ['HTTP/1.1 200', 200, ''],
      ['HTTP/1.1 200 caf\xe9', 200, 'caf\xe9'],
      ['HTTP/1.1 888 Odd', 888, 'Odd'],
      ['HTTP/1.0 404 Not Found', 404, 'Not Found'],
    ])('the status line "%s" is passed on', async (line, status, statusText) => {
      const holder = await rawHolder((socket) => void socket.end(Buffer.from(`${line}\r\nContent-Length: 0\r\n\r\n`, 'latin1')));
      const { connect } = await rig(holder.origin);
      const answer = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
      expect(answer).toMatchObject({ status, statusText });
    });
  });

  describe('fields that this instance set before', () => {
    const holderAnswer =
      'HTTP/1.1 200 OK\r\nX-Both: holder\r\nVary: Accept, origin\r\nSet-Cookie: h=1\r\nSet-Cookie: h=2\r\nContent-Type: text/plain\r\nX-L: caf\xe9\r\nContent-Length: 2\r\n\r\nok';
    const localFields = {
      'X-Both': 'local',
      'X-Local': 'local',
      Vary: 'Origin',
      'Set-Cookie': ['l=1'],
      'Content-Type': 'text/html',
      'Content-Length': '999',
      ETag: '"local"',
    };

    function check(lines: string[]): void {
      const of = (name: string): string[] =>
        lines.filter((line) => line.toLowerCase().startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      expect(of('x-both')).toEqual(['holder']);
      expect(of('x-local')).toEqual(['local']);
      expect(of('vary').join(', ').toLowerCase().split(', ').toSorted()).toEqual(expect.arrayContaining(['accept', 'origin']));
      expect(of('set-cookie').toSorted()).toEqual(['h=1', 'h=2', 'l=1']);
      expect(of('content-type')).toEqual(['text/plain']);
      expect(of('content-length')).toEqual(['2']);
      expect(of('etag')).toEqual([]);
      expect(of('x-l')).toEqual(['caf\xe9']);
    }

    unless(host.lacks.before)('the holder wins, Set-Cookie and Vary add up', async () => {
      check(await relayed(holderAnswer, { localFields }));
    });

    unless(host.lacks.before)('the same Vary on both sides is said once', async () => {
      const lines = await relayed('HTTP/1.1 200 OK\r\nVary: Origin\r\nContent-Length: 0\r\n\r\n', {
        localFields: { Vary: 'Origin' },
      });
      expect(lines.filter((line) => /^vary/i.test(line)).join()).toMatch(/^vary: Origin$/i);
    });

    unless(host.lacks.before)('middleware that replaced writeHead and reads its array as pairs does no harm', async () => {
      const lines = await relayed(holderAnswer, {
        before(_, response) {
          const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
          response.writeHead = (status: number, ...rest: unknown[]) => {
            const fields = rest.find((argument) => Array.isArray(argument)) as string[] | undefined;
            for (const [name, value] of fields ?? []) response.setHeader(name as string, value as string);
            response.appendHeader('Set-Cookie', 'late=1');
            return writeHead(status, ...rest.filter((argument) => typeof argument === 'string'));
          };
        },
      });
      expect(lines).toEqual(
        expect.arrayContaining(['X-Both: holder', 'Set-Cookie: h=1', 'Set-Cookie: late=1', 'Content-Length: 2']),
      );
      expect(lines.filter((line) => /^[a-z]: /i.test(line))).toEqual([]);
    });
  });
});
