import { expect, test } from 'vitest';
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

  test('is not what follows the length that was announced', async () => {
    const holder = await rawHolder((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokGARBAGE'));
    const { connect } = await rig(holder.origin);
    const client = await connect();
    expect((await client.send(GET).response()).text).toBe('ok');
    expect((await client.send(GET).response()).text).not.toContain('GARBAGE');
  });
});
