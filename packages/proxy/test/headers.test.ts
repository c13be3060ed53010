import { describe, expect, test } from 'vitest';
import { RawClient } from './support/raw-client.ts';
import { rig, type RigOptions } from './support/rig.ts';
import { spyLogger } from './support/spy-logger.ts';
import { httpServer, rawHolder } from './support/servers.ts';
import { createRoleHolderProxy, roleHolderProxy } from '../src/index.ts';
import { fakeLeasehold, heldBy } from './support/fake-leasehold.ts';

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

const ADDED = /^(Leasehold-Hop|X-Forwarded-|Via)/;

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
    const leasehold = fakeLeasehold({ ...heldBy(holder.origin), role: 'caf\u00e9; nightly' }, 'app;01');
    const proxy = createRoleHolderProxy(leasehold, { role: 'caf\u00e9; nightly', prefixes: ['/m'] });
    const front = await httpServer((request, response) => proxy.handle(request, response, () => response.end()));
    await (await RawClient.connect(front.port)).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
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

  test('are written from the socket, whatever the client claims', async () => {
    expect(picked(await forwarded(`GET /m HTTP/1.1\r\nHost: a\r\n${lies}\r\n`))).toEqual([
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: a',
    ]);
  });

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
    expect((await relayed(big, { maxHeaderSize: 65_536 }))[0]).toHaveLength(20_007);
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

describe('answer fields', () => {
  const own = /^(Connection|Keep-Alive|Date|Content-Length): /;

  test('keep case, order, duplicates and latin-1 bytes', async () => {
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
    const lines = await relayed(`HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`);
    expect(lines.filter((line) => !own.test(line))).toEqual(fields);
  });

  test('latin-1 bytes survive when a stream flushes its head at once', async () => {
    const lines = await relayed('HTTP/1.1 200 OK\r\nX-L: caf\xe9\r\nContent-Disposition: inline; filename="\xc3\xa9"\r\n\r\nabc');
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
  const before: RigOptions['before'] = (_, response) => {
    response.setHeader('X-Both', 'local');
    response.setHeader('X-Local', 'local');
    response.setHeader('Vary', 'Origin');
    response.setHeader('Set-Cookie', ['l=1']);
    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Content-Length', '999');
    response.setHeader('ETag', '"local"');
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

  test('on the response: the holder wins, Set-Cookie and Vary add up', async () => {
    check(await relayed(holderAnswer, { before }));
  });

  test('given by an adapter: the same', async () => {
    const holder = await rawHolder((socket) => void socket.end(Buffer.from(holderAnswer, 'latin1')));
    const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
    const front = await httpServer((request, response) => {
      const headers = {
        'X-Both': 'local',
        'x-local': 'local',
        vary: 'Origin',
        'set-cookie': ['l=1'],
        'content-type': 'text/html',
        'content-length': 999,
        etag: '"local"',
        none: undefined,
      };
      proxy.apply(proxy.decide(request), { request, response, headers });
    });
    const client = await RawClient.connect(front.port);
    check([...(await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).lines]);
  });

  test.each(['€', 'a\r\nb: c', '\0'])(
    'given by an adapter, and none that can be written (%j): it alone is left out',
    async (value) => {
      for (const holder of [await httpServer((_, response) => void response.end('ok')), null]) {
        const leasehold = fakeLeasehold(heldBy(holder?.origin ?? null));
        const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
        const headers = { 'x-bad': value, 'x-list': ['fine', value], 'no name': 'x', 'x-good': 'local' };
        const front = await httpServer(
          (request, response) => void proxy.apply(proxy.decide(request), { request, response, headers }),
        );
        const client = await RawClient.connect(front.port);
        const answer = await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
        expect(answer.status).toBe(holder === null ? 503 : 200);
        expect(answer.lines.filter((line) => /^(x-|no)/.test(line))).toEqual(['x-good: local']);
      }
    },
  );

  test('the same Vary on both sides is said once', async () => {
    const lines = await relayed('HTTP/1.1 200 OK\r\nVary: Origin\r\nContent-Length: 0\r\n\r\n', {
      before: (_, response) => void response.setHeader('Vary', 'Origin'),
    });
    expect(lines.filter((line) => /^vary/i.test(line))).toEqual(['Vary: Origin']);
  });

  test('middleware that replaced writeHead and reads its array as pairs does no harm', async () => {
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

test('roleHolderProxy is middleware that carries its proxy', async () => {
  const holder = await httpServer((_, response) => void response.end('holder'));
  const leasehold = fakeLeasehold(heldBy(holder.origin));
  const handler = roleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
  const front = await httpServer((request, response) => handler(request, response, () => response.end('local')));
  const client = await RawClient.connect(front.port);
  expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('holder');
  expect((await client.send('GET /other HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
  leasehold.lease.isHeld = true;
  expect((await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('local');
  handler.proxy.close();
});
