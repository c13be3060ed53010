import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { forwardedTo } from '../../../test/support/http/published.ts';
import { rawHolder } from '../../../test/support/http/servers.ts';
import { rig } from './support/rig.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

test.each([
  ['with the last bytes', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\nhalf', () => socket.resetAndDestroy())],
  [
    'after them',
    (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
  ],
])('a reset %s breaks an answer that only the end of its connection ends', async (_, answer) => {
  const holder = await rawHolder(answer);
  const { connect } = await rig(holder.origin);
  const messages = forwardedTo(holder);
  const client = await connect();
  client.send(GET);
  await client.untilClosed();
  expect(client.pending).not.toContain('0\r\n\r\n');
  const old = await connect();
  old.send('GET /m HTTP/1.0\r\n\r\n');
  await old.untilClosed();
  expect(messages.map(({ outcome }) => outcome)).toEqual(['truncated', 'truncated']);
});

test('a client that is slow to read gets the whole of an answer that ends with its connection', async () => {
  const size = 8_000_000;
  const holder = await rawHolder((socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(size)}`));
  const messages = forwardedTo(holder);
  const { connect } = await rig(holder.origin);
  const client = await connect();
  client.socket.pause();
  client.send(GET);
  await vi.waitFor(() => expect(client.socket.bytesRead).toBeGreaterThan(0));
  client.socket.resume();
  expect((await client.response()).body).toHaveLength(size);
  await vi.waitFor(() => expect(messages).toEqual([expect.objectContaining({ outcome: 'completed' })]));
});
