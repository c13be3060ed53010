import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import { rawHolder } from '../support/http/servers.ts';
import { upgrade } from '../support/http/upgrades.ts';

const LIES =
  'X-Forwarded-For: 6.6.6.6\r\nx-forwarded-proto: https\r\nX-FORWARDED-HOST: evil\r\nX-Forwarded-Port: 443\r\nForwarded: for=6.6.6.6\r\n';

onEveryHost(({ rig }) => {
  test.each([
    ['a request', `GET /m HTTP/1.1\r\nHost: a\r\n${LIES}\r\n`],
    ['an upgrade', upgrade('/m').replace('Host: a\r\n', `Host: a\r\n${LIES}`)],
  ])('of %s is written anew from the socket', async (_, request) => {
    const holder = await rawHolder((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const { connect } = await rig(holder.origin);
    await (await connect()).send(request).response();
    expect(
      holder
        .received()
        .split('\r\n')
        .filter((line) => /^(x-)?forwarded/i.test(line)),
    ).toEqual(['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Proto: http', 'X-Forwarded-Host: a']);
  });
});
