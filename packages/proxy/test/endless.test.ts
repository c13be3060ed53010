import http2 from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { forwardedTo } from '../../../test/support/http/published.ts';
import type { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, listen, rawHolder } from '../../../test/support/http/servers.ts';
import { SWITCH, upgrade } from '../../../test/support/http/upgrades.ts';
import { withUpgrades } from './support/upgrades.ts';

const EVENTS =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:a\n\r\n';
const TEXT = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n';

/** One request through a proxy; its holder answers with what the test gives it, when it does. */
async function inFlight(request: string) {
  let end: Socket | undefined;
  const holder = await rawHolder((socket) => (end = socket));
  const built = await withUpgrades(holder.origin);
  const messages = forwardedTo(holder);
  const client = (await built.connect()).send(request);
  await vi.waitFor(() => expect(end).toBeDefined());
  return { ...built, holder, messages, client, end: end as unknown as Socket };
}

function get(accept?: string): string {
  return `GET /m HTTP/1.1\r\nHost: a\r\n${accept === undefined ? '' : `Accept: ${accept}\r\n`}\r\n`;
}

async function expectWhole(client: RawClient, end: Socket): Promise<void> {
  end.write('5\r\n, two\r\n0\r\n\r\n');
  await client.untilText(', two\r\n0\r\n\r\n');
  expect(client.closed).toBe(false);
}

describe('cutEndless() breaks off on both sides', () => {
  test.each<[string, string, string]>([
    ['an event stream, by what the client asks for', get('text/event-stream'), TEXT],
    ['an event stream, by what the client asks for first', get('Text/Event-Stream, */*;q=0.1'), TEXT],
    ['an event stream, by what the holder answers', get('application/json, text/event-stream'), EVENTS],
    ['a tunnel', upgrade('/m'), SWITCH],
  ])('%s', async (_, request, answer) => {
    const { client, end, proxy, holder, messages } = await inFlight(request);
    end.write(answer);
    await client.untilText('\r\n\r\n');
    proxy.close();
    proxy.cutEndless();
    await client.untilClosed();
    expect(client.pending).not.toContain('0\r\n\r\n');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    expect(messages).toMatchObject([{ outcome: 'stopping' }]);
  });

  test.each([
    ['an event stream that has no answer yet', get('text/event-stream')],
    ['an upgrade that has no answer yet', upgrade('/m')],
  ])('%s', async (_, request) => {
    const { client, proxy, holder, messages } = await inFlight(request);
    proxy.cutEndless();
    await client.untilClosed();
    expect(client.pending).toBe('');
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
    expect(messages).toMatchObject([{ outcome: 'stopping', statusCode: null }]);
  });

  test('what turns out to be an event stream later', async () => {
    const { client, end, proxy } = await inFlight(get());
    proxy.cutEndless();
    end.write(EVENTS);
    await client.untilClosed();
    expect(client.pending).not.toContain('0\r\n\r\n');
  });

  test('one stream of HTTP/2, and not its session', async () => {
    const holder = await httpServer((request, response) => {
      if (request.url === '/m/events') response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':a\n');
      else response.end('here');
    });
    const leasehold = fakeLeasehold(heldBy(holder.origin));
    const proxy = createRoleHolderProxy(leasehold, { role: 'maintenance', prefixes: ['/m'] });
    const front = await listen(
      http2.createServer((request, response) => proxy.handle(request, response, () => response.end('local'))),
    );
    const session = http2.connect(front.origin);
    onTestFinished(() => session.destroy());
    const events = session.request({ ':path': '/m/events' });
    await new Promise((resolve) => events.once('data', resolve));
    const closed = new Promise((resolve) => events.once('close', resolve).on('error', () => {}));
    proxy.cutEndless();
    await closed;
    expect(events.rstCode).not.toBe(http2.constants.NGHTTP2_NO_ERROR);
    const other = session.request({ ':path': '/elsewhere' });
    expect(await new Promise((resolve) => other.once('data', (data) => resolve(String(data))))).toBe('local');
  });
});

describe('cutEndless() leaves', () => {
  test.each<[string, string]>([
    ['an answer that goes on', get()],
    ['one of a client that would take an event stream too', get('application/json, text/event-stream')],
  ])('%s', async (_, request) => {
    const { client, end, proxy } = await inFlight(request);
    end.write(TEXT);
    await client.untilText('one');
    proxy.cutEndless();
    await expectWhole(client, end);
  });

  test('an answer in place of an upgrade', async () => {
    const { client, end, proxy } = await inFlight(upgrade('/m'));
    end.write(TEXT);
    await client.untilText('one');
    proxy.cutEndless();
    end.write('5\r\n, two\r\n0\r\n\r\n');
    await client.untilText(', two\r\n0\r\n\r\n');
  });

  test('an answer that begins afterwards', async () => {
    const { client, end, proxy } = await inFlight(get());
    proxy.cutEndless();
    end.write(TEXT);
    await expectWhole(client, end);
  });
});
