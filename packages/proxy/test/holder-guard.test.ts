import http2 from 'node:http2';
import { isLeaseholdError } from '@leasehold/core';
import { HolderGuard } from '@leasehold/proxy/adapter';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakeLeasehold, heldBy } from '../../../test/support/http/fake-leasehold.ts';
import { rejectedWith } from '../../../test/support/http/published.ts';
import { RawClient } from '../../../test/support/http/raw-client.ts';
import { httpServer, listen } from '../../../test/support/http/servers.ts';

const held = { isHeld: true, currentHolder: 'app-01-aaaa' };

/** The lines of the head but those that change with time and transport. */
function fixed(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^(date|connection|keep-alive):/i.test(line)).toSorted();
}

const BODY = JSON.stringify({
  title: 'Service Unavailable',
  status: 503,
  detail:
    'This instance does not hold the role, and only its holder may run this. Nothing was executed; the request can be sent again.',
  reason: 'not-held',
  role: 'maintenance',
});

const HEAD = [
  'Cache-Control: no-store',
  `Content-Length: ${BODY.length}`,
  'Content-Type: application/problem+json',
  'Proxy-Status: leasehold; error=destination_unavailable; details="not-held"',
  'Retry-After: 5',
];

test('a role that is not registered is refused at once', () => {
  let thrown: unknown;
  try {
    new HolderGuard(fakeLeasehold(), 'maintenanc').check();
  } catch (error) {
    thrown = error;
  }
  expect(isLeaseholdError(thrown, 'LEASEHOLD_UNKNOWN_ROLE')).toBe(true);
});

test('it asks anew each time', () => {
  const leasehold = fakeLeasehold(heldBy('http://app-02.internal'));
  const guard = new HolderGuard(leasehold, 'maintenance');
  expect(guard.check()).not.toBe(null);
  Object.assign(leasehold.lease, held);
  expect(guard.check()).toBe(null);
});

describe('answer()', () => {
  async function guarded(before?: Parameters<typeof httpServer>[0]): Promise<RawClient> {
    const guard = new HolderGuard(fakeLeasehold(heldBy('http://app-02.internal:3000')), 'maintenance');
    const server = await httpServer((request, response) => {
      before?.(request, response);
      guard.check()?.answer(response);
    });
    return RawClient.connect(server.port);
  }

  test('to GET and to HEAD has the same head, and the connection goes on', async () => {
    const client = await guarded();
    const get = await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').response();
    const head = await client.send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n').response({ head: true });
    const again = await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect([get.status, fixed(get.lines)]).toEqual([503, HEAD]);
    expect([head.status, fixed(head.lines)]).toEqual([503, HEAD]);
    expect(again.text).toBe(BODY);
    expect(client.pending).toBe('');
  });

  test('keeps fields that were set before, such as those of CORS', async () => {
    const client = await guarded((_, response) => response.setHeader('Access-Control-Allow-Origin', '*'));
    const answer = await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').response();
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  test('breaks an answer off that has begun, and leaves one that was given', async () => {
    const begun = await guarded((_, response) => response.writeHead(200).write('x'));
    await begun.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').untilClosed();
    expect(begun.pending).not.toContain('0\r\n\r\n');
    const given = await guarded((_, response) => response.end('given'));
    expect((await given.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').response()).text).toBe('given');
  });

  test('over HTTP/2', async () => {
    const guard = new HolderGuard(fakeLeasehold(heldBy('http://app-02.internal:3000')), 'maintenance');
    const front = await listen(http2.createServer((_, response) => guard.check()?.answer(response)));
    const session = http2.connect(front.origin);
    onTestFinished(() => session.destroy());
    const answers: unknown[] = [];
    for (const method of ['GET', 'HEAD']) {
      const stream = session.request({ ':method': method }, { endStream: true });
      let body = '';
      stream.on('response', (fields) => answers.push([fields[':status'], fields['content-length'], fields['retry-after']]));
      stream.setEncoding('utf8').on('data', (data: string) => (body += data));
      await new Promise((resolve) => stream.on('close', resolve));
      answers.push(body);
    }
    const head = [503, String(BODY.length), '5'];
    expect(answers).toEqual([head, BODY, head, '']);
  });
});

describe('tell()', () => {
  test('has the same status, fields and body, and names no instance', () => {
    const guard = new HolderGuard(fakeLeasehold(heldBy('http://app-02.internal:3000')), 'maintenance');
    const { status = 0, headers = {}, body } = guard.check()?.tell('GET') ?? {};
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    expect([status, lines.toSorted()]).toEqual([503, HEAD.filter((line) => !line.startsWith('Content-Length'))]);
    expect(JSON.stringify(body)).toBe(BODY);
    expect(JSON.stringify([headers, body])).not.toMatch(/app-0/);
  });

  test('is published', () => {
    const messages = rejectedWith('BREW');
    new HolderGuard(fakeLeasehold(heldBy(null)), 'maintenance').check()?.tell('BREW');
    expect(messages).toEqual([
      {
        instance: 'app-01-aaaa',
        role: 'maintenance',
        holder: 'app-02-bbbb',
        method: 'BREW',
        reason: 'not-held',
        statusCode: 503,
      },
    ]);
  });
});
