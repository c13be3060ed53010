import { describe, expect, test } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, rawHolder, type TestServer } from '../../../test/support/http/servers.ts';

describe('Expect: 100-continue', () => {
  const head = 'POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';

  async function echo(): Promise<TestServer> {
    return httpServer((request, response) => void request.pipe(response));
  }

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
