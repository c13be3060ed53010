import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { onEveryHost } from '../matrix/on-every-host.ts';
import type { RigOptions } from '../matrix/rig.ts';
import { httpServer, rawHolder, unusedOrigin } from '../support/http/servers.ts';
import { spyLogger } from '../support/http/spy-logger.ts';
import { upgrade } from '../support/http/upgrades.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

/** Who holds, where, who this is, what it runs on, and what went wrong inside. */
const INTERNAL = /app-0|127\.0\.0\.1|10\.0\.0|ECONN|ETIMEDOUT|\.ts:|node:|LEASEHOLD_|internal|secret/i;

const breaking = (text: string): Promise<{ origin: string }> => rawHolder((socket: Socket) => void socket.end(text));

interface Case {
  readonly origin?: string | null;
  readonly options?: RigOptions;
}

const cases: readonly [string, () => Promise<Case>][] = [
  ['a holder that refuses connections', async () => ({ origin: await unusedOrigin() })],
  ['a holder that breaks', async () => ({ origin: (await breaking('')).origin })],
  ['a holder that answers garbage', async () => ({ origin: (await breaking('secret garbage\r\n\r\n')).origin })],
  [
    'a holder whose status is none',
    async () => ({ origin: (await breaking('HTTP/1.1 099 secret\r\nSet-Cookie: secret\r\n\r\n')).origin }),
  ],
  ['a holder that is silent', async () => ({ origin: (await rawHolder(() => {})).origin, options: { headTimeout: 50 } })],
  ['an address that is none', async () => ({ origin: 'ftp://secret.internal' })],
  ['an address that is not trusted', async () => ({ origin: 'http://secret.internal', options: { trustAddress: () => false } })],
  ['nobody who holds', async () => ({ options: { lease: { currentHolder: null } } })],
  ['an instance that takes itself for the holder', async () => ({ options: { lease: { currentHolder: 'app-01-aaaa' } } })],
  [
    'a trustAddress that throws',
    async () => ({
      origin: 'http://secret.internal',
      options: {
        trustAddress: () => {
          throw new Error('secret');
        },
      },
    }),
  ],
];

onEveryHost(({ rig }) => {
  test.each(cases)('%s: nothing internal is told to the client', async (_, given) => {
    const { origin = null, options } = await given();
    const { connect } = await rig(origin, { logger: spyLogger(), ...options });
    for (const request of [GET, upgrade('/m')]) {
      const answer = await (await connect()).send(request).response();
      expect(answer.status).toBe(503);
      expect(`${answer.statusText}\n${answer.lines.join('\n')}\n${answer.text}`).not.toMatch(INTERNAL);
    }
  });

  test('what is told is told where it was asked for', async () => {
    const origin = await unusedOrigin();
    const { connect } = await rig(origin, { expose: true });
    const answer = await (await connect()).send(GET).response();
    expect(JSON.parse(answer.text)).toMatchObject({ instance: 'app-01-aaaa', holder: 'app-02-bbbb', address: origin });
  });

  test('the marker between instances is not in an answer, though the holder sends it back', async () => {
    const holder = await httpServer((request, response) => {
      response.setHeader('Leasehold-Hop', String(request.headers['leasehold-hop'])).end('ok');
    });
    const { connect } = await rig(holder.origin);
    const answer = await (await connect()).send(GET).response();
    expect(answer.headers['leasehold-hop']).toBeUndefined();
  });

  test('an answer that breaks off gets no text of the error appended', async () => {
    const holder = await breaking('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789');
    const { connect } = await rig(holder.origin);
    const client = await connect();
    await client.send(GET).untilClosed();
    expect(client.pending === '' || client.pending.endsWith('\r\n\r\n') || client.pending.endsWith('0123456789')).toBe(true);
  });
});
