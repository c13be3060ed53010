import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import compression from 'compression';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rig } from './support/rig.ts';
import { httpServer } from '../../../test/support/http/servers.ts';

const GET = 'GET /m HTTP/1.1\r\nHost: a\r\n\r\n';

describe('event streams', () => {
  test('a large answer through compression() arrives whole, backpressure included', async () => {
    const body = randomBytes(1_000_000).toString('base64');
    const holder = await httpServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.end(body);
    });
    const compress = compression();
    const { front } = await rig(holder.origin, {
      before: (request, response) => compress(request as never, response as never, () => {}),
    });
    const answer = await new Promise<http.IncomingMessage>((resolve) =>
      http.get(
        { port: front.port, path: '/m', host: '127.0.0.1', agent: false, headers: { 'accept-encoding': 'gzip' } },
        resolve,
      ),
    );
    expect(answer.headers['content-encoding']).toBe('gzip');
    const hash = createHash('sha256');
    for await (const chunk of answer.pipe(createGunzip())) hash.update(chunk as Buffer);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
  });
});

describe('backpressure', () => {
  test('a client that does not read stops the holder, and memory stays flat', async () => {
    let written = 0;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const holder = await httpServer((_, response) => {
      const more = (): void => {
        while (written < 400_000_000) {
          written += chunk.length;
          if (!response.write(chunk)) return;
        }
      };
      response.on('drain', more);
      more();
    });
    const { connect } = await rig(holder.origin);
    const client = await connect();
    client.socket.pause();
    client.send(GET);
    let before = -1;
    await vi.waitFor(
      () => {
        const still = written > 0 && written === before;
        before = written;
        expect(still).toBe(true);
      },
      { timeout: 5_000, interval: 200 },
    );
    expect(written).toBeLessThan(50_000_000);
    client.socket.destroy();
    await vi.waitFor(() => expect(holder.sockets.size).toBe(0));
  });

  test('a holder that does not read stops the client', async () => {
    const holder = await httpServer(() => {});
    const { front } = await rig(holder.origin);
    const upload = http.request({ port: front.port, host: '127.0.0.1', path: '/m', method: 'POST', agent: false });
    upload.on('error', () => {});
    onTestFinished(() => void upload.destroy());
    let sent = 0;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const more = (): void => {
      while (sent < 400_000_000) {
        sent += chunk.length;
        if (!upload.write(chunk)) return;
      }
    };
    upload.on('drain', more);
    more();
    let before = -1;
    await vi.waitFor(
      () => {
        const still = sent > 1_000_000 && sent === before;
        before = sent;
        expect(still).toBe(true);
      },
      { timeout: 5_000, interval: 200 },
    );
    expect(sent).toBeLessThan(50_000_000);
  });

  test('a hundred megabytes up and down at once arrive whole, the first before the last is sent', async () => {
    const holder = await httpServer((request, response) => {
      response.writeHead(200);
      request.pipe(response);
    });
    const { front } = await rig(holder.origin);
    const chunk = randomBytes(1 << 20);
    const rounds = 100;
    const sent = createHash('sha256');
    const got = createHash('sha256');
    const upload = http.request({ port: front.port, host: '127.0.0.1', path: '/m', method: 'POST', agent: false });
    const answered = new Promise<http.IncomingMessage>((resolve, reject) => upload.on('response', resolve).on('error', reject));
    upload.write(chunk);
    sent.update(chunk);
    const answer = await answered;
    const reading = finished(answer.on('data', (data: Buffer) => got.update(data)));
    for (let round = 1; round < rounds; round++) {
      sent.update(chunk);
      if (!upload.write(chunk)) await new Promise((resolve) => upload.once('drain', resolve));
    }
    upload.end();
    await reading;
    expect(got.digest('hex')).toBe(sent.digest('hex'));
  }, 30_000);
});
