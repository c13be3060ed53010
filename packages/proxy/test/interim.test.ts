import { describe, expect, test } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { rig } from './support/rig.ts';
import { httpServer, rawHolder, type TestServer } from '../../../test/support/http/servers.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

describe('interim answers', () => {
  test('103 is relayed with its own fields, and the final answer is not disturbed', async () => {
    const holder = await rawHolder((socket) => {
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>; rel="preload"; as=script\r\nConnection: X-N\r\nX-N: 1\r\nX-L: caf\xe9\r\n\r\n',
        'latin1',
      );
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nLink: </c>\r\nContent-Length: 2\r\n\r\nok'), 20);
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const early = await client.send(GET).response();
    expect(early).toMatchObject({ status: 103, statusText: 'Early Hints' });
    expect(early.lines).toEqual(['Link: </a.css>; rel=preload', 'Link: </b.js>; rel="preload"; as=script', 'X-L: caf\xe9']);
    const final = await client.response();
    expect(final).toMatchObject({ status: 200, text: 'ok' });
    expect(final.lines.filter((line) => line.startsWith('Link'))).toEqual(['Link: </c>']);
  });

  test('several in a row, of known and unknown kinds, come in order', async () => {
    const holder = await rawHolder((socket) => {
      socket.end(
        'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 150 Odd\r\nX: 1\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
      );
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.send(GET);
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) statuses.push((await client.response()).status);
    expect(statuses).toEqual([102, 103, 150, 204]);
  });

  test('a client of HTTP/1.0 gets none', async () => {
    const holder = await rawHolder(
      (socket) => void socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    const { connect } = await rig(holder.origin);
    expect((await (await connect()).send('GET /m HTTP/1.0\r\n\r\n').response()).status).toBe(200);
  });

  test('a pipelined request gets none before its turn', async () => {
    const holder = await httpServer((request, response) => {
      if (request.url === '/m/1') setTimeout(() => response.end('first'), 50);
      else response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.end('second'));
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.send('GET /m/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /m/2 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await client.response()).text).toBe('first');
    expect((await client.response()).text).toBe('second');
  });

  test.each([
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['a 103 that is never followed', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ])('%s and then a break is a 503', async (_, text) => {
    const holder = await rawHolder((socket) => void socket.end(text));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.send(GET);
    expect((await client.response()).status).toBeLessThan(200);
    expect(JSON.parse((await client.response()).text).reason).toBe('outcome-unknown');
  });
});

describe('Expect: 100-continue', () => {
  const head = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';

  async function echo(): Promise<TestServer> {
    return httpServer((request, response) => void request.pipe(response));
  }

  test('works without anything attached: Node says 100 here, and the field goes no further', async () => {
    const holder = await httpServer((request, response) => {
      response.setHeader('X-Expect', String(request.headers.expect));
      request.pipe(response);
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(head).response()).status).toBe(100);
    const answer = await client.send('hello').response();
    expect(answer).toMatchObject({ status: 200, text: 'hello', headers: { 'x-expect': 'undefined' } });
  });

  async function attached(holder: {
    origin: string;
  }): Promise<{ client: RawClient; leasehold: ReturnType<typeof fakeLeasehold>; local: string[] }> {
    const leasehold = fakeLeasehold(heldBy(holder.origin));
    const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
    const local: string[] = [];
    const front = await httpServer((request, response) => {
      proxy.handle(request, response, () => {
        local.push(request.url ?? '');
        request.pipe(response);
      });
    });
    proxy.attachExpect(front.server);
    return { client: await RawClient.connect(front.port), leasehold, local };
  }

  test('attached, the holder says 100', async () => {
    const holder = await echo();
    let asked = 0;
    holder.server.on('checkContinue', (request, response) => {
      asked++;
      response.writeContinue();
      holder.server.emit('request', request, response);
    });
    const { client } = await attached(holder);
    expect((await client.send(head).response()).status).toBe(100);
    expect((await client.send('hello').response()).text).toBe('hello');
    expect(asked).toBe(1);
  });

  test('attached, the holder may refuse before a body was sent', async () => {
    const holder = await echo();
    holder.server.on('checkContinue', (_, response) => {
      response.writeHead(413, { 'Content-Length': 0 });
      response.end();
    });
    const { client } = await attached(holder);
    const answer = await client.send(head).response();
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    await client.untilClosed();
  });

  test('attached, a refusal comes before a body was sent, and closes', async () => {
    const { client, leasehold } = await attached(await echo());
    leasehold.lease.currentHolder = null;
    const answer = await client.send(head).response();
    expect(answer).toMatchObject({ status: 503, headers: { connection: 'close' } });
    await client.untilClosed();
  });

  test('attached, what is local goes on as ever', async () => {
    const { client, leasehold, local } = await attached(await echo());
    leasehold.lease.isHeld = true;
    expect((await client.send(head).response()).status).toBe(100);
    expect((await client.send('hello').response()).text).toBe('hello');
    expect(local).toEqual(['/m']);
  });

  test('attached, bytes above ASCII stay what they are', async () => {
    const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const { client } = await attached(holder);
    expect((await client.send(head.replace('Host: a', 'Host: a\r\nX-L: caf\xe9')).response()).status).toBe(100);
    await client.send('hello').response();
    expect(holder.received()).toContain('X-L: caf\xe9\r\n');
  });

  test('a second listener for it is refused; detaching removes the first', async () => {
    const proxy = createRoleHolderProxy(fakeLeasehold(), { role: 'maintenance', prefixes: ['/m'] });
    const { server } = await httpServer(() => {});
    const detach = proxy.attachExpect(server);
    expect(() => proxy.attachExpect(server)).toThrow(expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION' }));
    detach();
    expect(server.listenerCount('checkContinue')).toBe(0);
  });
});
