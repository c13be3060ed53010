import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { rawHolder } from '../support/http/servers.ts';
import { switching, upgrade } from '../support/http/upgrades.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

onEveryHost(({ rig }) => {
  test.each([
    ['h2c', upgrade('/m', { connection: 'Upgrade, HTTP2-Settings', protocol: 'h2c' })],
    ['H2C beside a connection that nominates nothing', upgrade('/m', { protocol: 'H2C' })],
    ['an upgrade of HTTP/1.0', upgrade('/m').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('is not opened by %s: it is a request like any other', async (_, request) => {
    const holder = await rawHolder((socket) => void socket.write(OK));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    const answer = await client.send(request.replace('Host: a', 'Host: a\r\nHTTP2-Settings: AA')).response();
    expect(answer).toMatchObject({ status: 200, text: 'ok' });
    expect(holder.received()).not.toMatch(/upgrade|http2-settings/i);
  });

  test('is not opened to anything but what was asked for: h2c is taken out of a list', async () => {
    const holder = await switching(() => {});
    const { connect } = await rig(holder.origin);
    expect((await (await connect()).send(upgrade('/m', { protocol: 'h2c, websocket' })).response()).status).toBe(101);
    expect(holder.received()).toContain('Upgrade: websocket\r\n');
    expect(holder.received()).not.toMatch(/h2c/i);
  });

  test.each(['Content-Length: 2', 'Transfer-Encoding: chunked'])('is not opened by an upgrade with a body: %s', async (field) => {
    const holder = await switching(() => {});
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.send(upgrade('/m', { method: 'POST' }).replace('Host: a', `Host: a\r\n${field}`));
    const answer = await client.response();
    expect([answer.status, (JSON.parse(answer.text) as { reason: string }).reason]).toEqual([501, 'upgrade-with-body']);
    expect(holder.accepted.count).toBe(0);
  });

  test('is not left open by a holder that switches though nobody asked', async () => {
    const holder = await switching(() => {});
    const { connect } = await rig(holder.origin);
    const answer = await (await connect()).send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect([answer.status, (JSON.parse(answer.text) as { reason: string }).reason]).toEqual([503, 'outcome-unknown']);
  });

  test('is not opened by CONNECT', async () => {
    const holder = await rawHolder((socket) => void socket.write(OK));
    const { connect } = await rig(holder.origin, { prefixes: ['/'] });
    const client = await connect();
    client.send('CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n');
    await client.untilClosed();
    expect([client.pending, holder.accepted.count]).toEqual(['', 0]);
  });
});
