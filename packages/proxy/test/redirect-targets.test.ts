import { expect, test } from 'vitest';
import { rig } from './support/rig.ts';

const HOLDER = 'http://app-02.internal:3000';

test.each([
  ['//evil.example/m', '//evil.example/m'],
  ['*m', '/m'],
])('%s is redirected to a path of the holder', async (target, path) => {
  const { connect, local } = await rig(HOLDER, { mode: 'redirect' });
  const answer = await (await connect()).send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).response();
  expect([answer.status, answer.headers['location'], local]).toEqual([307, `${HOLDER}${path}`, []]);
});

test('an answer that something has begun before is cut', async () => {
  const { connect, local } = await rig(HOLDER, { mode: 'redirect', before: (_, response) => void response.write('begun') });
  const client = await connect();
  await client.send('GET /m HTTP/1.1\r\nHost: a\r\n\r\n').untilClosed();
  expect([client.pending.includes('0\r\n\r\n'), local]).toEqual([false, []]);
});
