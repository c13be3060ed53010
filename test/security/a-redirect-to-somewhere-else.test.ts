import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';

const HOLDER = 'http://app-02.internal:3000';

onEveryHost(({ rig }) => {
  test.each([
    '//evil.example/../m',
    '/\\evil.example/../m',
    '/m/@evil.example',
    'http://evil.example/m',
    'http://user@evil.example:80/m',
    'HTTP://evil.example/x/..\\m',
    '/m/%0d%0aLocation:%20http://evil.example',
    '/m?next=//evil.example',
  ])('is not made of the target %s', async (target) => {
    const { connect } = await rig(HOLDER, { mode: 'redirect' });
    const answer = await (await connect()).send(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\n\r\n`).response();
    expect(answer.status).toBe(307);
    expect(answer.lines.filter((line) => /^location:/i.test(line))).toHaveLength(1);
    expect(new URL(answer.headers.location ?? '').origin).toBe(HOLDER);
  });
});
