import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRoleHolderProxy } from '../src/index.ts';
import { Transport } from '../src/transport.ts';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { rig } from './support/rig.ts';
import { httpServer, unusedOrigin } from '../../../test/support/http/servers.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

function problem(text: string): { status: number; reason: string; detail: string } {
  return JSON.parse(text) as { status: number; reason: string; detail: string };
}

test('a logger that throws costs its line alone', async () => {
  const broken = (): never => {
    throw new Error('a broken logger');
  };
  const logger = { debug: broken, info: broken, warn: broken, error: broken };
  const { connect } = await rig(await unusedOrigin(), { logger });
  expect(problem((await (await connect()).send(GET).response()).text).reason).toBe('unreachable');
});

test('middleware that throws at every head costs the connection, and not the process', async () => {
  const { connect } = await rig(await unusedOrigin(), {
    before(_, response) {
      response.writeHead = () => {
        throw new Error('a broken hook');
      };
    },
  });
  const client = await connect();
  await client.send(GET).untilClosed();
  expect(client.pending).toBe('');
});

describe('errors that come twice or late', () => {
  test('an answer that somebody else has ended is left alone', async () => {
    const open = vi.spyOn(Transport.prototype, 'open');
    onTestFinished(() => open.mockRestore());
    const holder = await httpServer((_, response) => void response.end('holder'));
    const { connect } = await rig(holder.origin, { before: (_, response) => void response.end('mine') });
    expect((await (await connect()).send(GET).response()).text).toBe('mine');
    expect(open).not.toHaveBeenCalled();
  });
});

describe('a request that cannot be written again', () => {
  test('is 400, and nothing is sent', async () => {
    const holder = await httpServer((_, response) => void response.end('executed'));
    const proxy = createRoleHolderProxy(fakeLeasehold(heldBy(holder.origin)), { role: 'maintenance', prefixes: ['/m'] });
    const front = await httpServer((request, response) => {
      request.rawHeaders.push('X-Bad', 'a\r\nSmuggled: 1');
      proxy.handle(request, response, () => response.end());
    });
    const answer = await (await RawClient.connect(front.port)).send(GET).response();
    expect(problem(answer.text)).toMatchObject({ status: 400, reason: 'malformed-request' });
    expect(holder.accepted.count).toBe(0);
  });
});
