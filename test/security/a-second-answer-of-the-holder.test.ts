import { expect, test, vi } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { rawHolder } from '../support/http/servers.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

onEveryHost(({ rig }) => {
  test('is not taken for the answer to the next request', async () => {
    const holder = await rawHolder((socket) => {
      const ok = (text: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
      socket.write(ok('first') + ok('stolen'));
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('first');
    const next = await client.send(GET).response();
    expect(next.text).not.toContain('stolen');
    expect(client.pending).toBe('');
  });

  test('is not taken for it either when it comes late, on a connection that is kept', async () => {
    let asked = 0;
    const holder = await rawHolder((socket) => {
      const ok = (text: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
      socket.write(ok('mine'));
      setTimeout(() => socket.write(ok('stolen'), () => asked++), 20);
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('mine');
    await vi.waitFor(() => expect(asked).toBe(1));
    const next = await client.send(GET).response();
    expect([200, 503]).toContain(next.status);
    expect(next.text).not.toContain('stolen');
  });

  test('to HEAD, a body, is not taken for the answer to the next request', async () => {
    const body = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen';
    const holder = await rawHolder((socket, head) => {
      if (head.startsWith('HEAD')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine');
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(GET.replace('GET', 'HEAD')).response({ head: true })).status).toBe(200);
    const next = await client.send(GET).response();
    expect([200, 503]).toContain(next.status);
    expect(next.text).not.toContain('stolen');
  });

  test('is not what follows the length that was announced', async () => {
    const holder = await rawHolder((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokGARBAGE'));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('ok');
    expect((await client.send(GET).response()).text).not.toContain('GARBAGE');
  });
});
