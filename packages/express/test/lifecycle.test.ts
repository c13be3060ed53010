import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, createServer as createSecureServer, get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { randomUUID } from 'node:crypto';
import { createLeasehold, isLeaseholdError, type LeaseholdErrorCode, type LeaseStore } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { leaseholdLifecycle, type LeaseholdLifecycleOptions } from '@leasehold/express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../../test/support/http/certificates.ts';
import { forwardedTo } from '../../../test/support/http/published.ts';
import { type Copy, startCopy, startPair, whoRoutes } from './support/copies.ts';
import { type Host, hosts } from './support/hosts.ts';
import { listenOn } from './support/listen.ts';
import { openStream, openUpgrade, rawExchange, upgradeLines } from '../../../test/support/raw.ts';

/** A bare server with a lifecycle: what does not depend on Express. */
function bareLifecycle(options: LeaseholdLifecycleOptions = {}, store: LeaseStore = memoryStore()) {
  const leasehold = createLeasehold({ store, startup: 'fail', releaseTimeout: 50 });
  const lease = leasehold.role('maintenance');
  const server = createServer((_request, response) => response.end('here'));
  const lifecycle = leaseholdLifecycle(leasehold, server, { closeTimeout: 2_000, ...options });
  onTestFinished(() => lifecycle.close());
  return { leasehold, lease, server, lifecycle };
}

describe('start', () => {
  test('it competes, and ready says when', async () => {
    const { lease, lifecycle } = bareLifecycle();
    await lifecycle.ready;
    expect(lease.isHeld).toBe(true);
  });

  test('ready rejects as startup says, and close() works', async () => {
    const down: LeaseStore = { ...memoryStore(), open: () => Promise.reject(new Error('down')) };
    const { server, lifecycle } = bareLifecycle({}, down);
    await expect(lifecycle.ready).rejects.toThrow('down');
    await listenOn(server);
    await lifecycle.close();
    expect(server.listening).toBe(false);
  });

  test('closed while it starts, it tells whoever awaits ready, and ends', async () => {
    const silence = (): Promise<never> => new Promise(() => {});
    const silent: LeaseStore = { ...memoryStore(), open: silence, heartbeat: silence, release: silence };
    const { lifecycle } = bareLifecycle({}, silent);
    const failed = expect(lifecycle.ready).rejects.toMatchObject({ code: 'LEASEHOLD_STOPPED' });
    await lifecycle.close();
    await failed;
  });

  test('a Leasehold that was started before is used, and left running', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    onTestFinished(() => leasehold.stop());
    const lease = leasehold.role('maintenance');
    await leasehold.start();
    const server = createServer();
    const origin = await listenOn(server);
    const lifecycle = leaseholdLifecycle(leasehold, server);
    await lifecycle.ready;
    expect(leasehold.instance.address).toBe(origin);
    await lifecycle.close();
    expect([server.listening, lease.isHeld]).toEqual([false, true]);
  });
});

describe('the address', () => {
  test("'auto' is where the server listens, whether it listens before or after", async () => {
    const { leasehold, server, lifecycle } = bareLifecycle();
    await lifecycle.ready;
    expect(leasehold.instance.address).toBe(null);
    expect(await listenOn(server)).toBe(leasehold.instance.address);
  });

  test.each<[string, Required<LeaseholdLifecycleOptions>['advertise'], string]>([
    ['a URL', 'https://app-03.internal:8443', 'https://app-03.internal:8443'],
    ['a function', () => 'http://app-03.internal:3000', 'http://app-03.internal:3000'],
  ])('%s wins', async (_kind, advertise, address) => {
    const { leasehold, server } = bareLifecycle({ advertise });
    await listenOn(server);
    expect(leasehold.instance.address).toBe(address);
  });

  test('that the Leasehold was made with stays', async () => {
    const address = 'http://app-03.internal:3000';
    const leasehold = createLeasehold({ store: memoryStore(), instance: { address } });
    const server = createServer();
    const lifecycle = leaseholdLifecycle(leasehold, server);
    onTestFinished(() => lifecycle.close());
    await listenOn(server);
    expect(leasehold.instance.address).toBe(address);
  });

  test('a server on a path has none: it is said, and the server serves', async () => {
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (_fields: object, message: string) => void errors.push(message) };
    const { leasehold, server } = bareLifecycle({ logger });
    server.listen(join(tmpdir(), `${randomUUID().slice(0, 8)}.sock`));
    await once(server, 'listening');
    expect([leasehold.instance.address, server.listening]).toEqual([null, true]);
    expect(errors).toEqual([expect.stringContaining('no address is advertised')]);
  });

  test('without a logger, a process warning says so', async () => {
    const warnings: (Error & { code?: string })[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { server } = bareLifecycle({ advertise: () => 'not an address' });
    await listenOn(server);
    await expect
      .poll(() => warnings.map(({ name, code }) => ({ name, code })))
      .toContainEqual({
        name: 'LeaseholdWarning',
        code: 'LEASEHOLD_INVALID_ADDRESS',
      });
  });
});

describe('close', () => {
  test('twice, and at once: one promise', async () => {
    const { lease, server, lifecycle } = bareLifecycle();
    await Promise.all([listenOn(server), lifecycle.ready]);
    expect(lifecycle.close()).toBe(lifecycle.close());
    await lifecycle.closed;
    expect([server.listening, lease.state]).toEqual([false, 'stopped']);
  });

  test('while listen() still looks its host up: it does not begin to listen afterwards', async () => {
    const { server, lifecycle } = bareLifecycle();
    server.listen(0, '127.0.0.1');
    expect(server.listening).toBe(false);
    await lifecycle.close();
    const later = createServer();
    onTestFinished(() => void later.close());
    await listenOn(later);
    expect(server.listening).toBe(false);
  });

  test('leaves no trace on the server', async () => {
    const server = createServer();
    const { emit } = server;
    const before = server.listenerCount('connection');
    const lifecycle = leaseholdLifecycle(createLeasehold({ store: memoryStore() }), server);
    expect(server.listenerCount('upgrade')).toBe(0);
    await listenOn(server);
    await lifecycle.close();
    expect([server.emit === emit, server.listenerCount('connection')]).toEqual([true, before]);
  });

  test('a connection that never sent a request does not hold it up, nor does one that is kept alive', async () => {
    const { server, lifecycle } = bareLifecycle({ closeTimeout: '1m' });
    const { port } = new URL(await listenOn(server));
    await lifecycle.ready;
    const sockets = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')];
    for (const socket of sockets) onTestFinished(() => void socket.destroy());
    sockets[0]?.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all([once(sockets[0] as never, 'data'), once(sockets[1] as never, 'connect')]);
    await lifecycle.close();
  });

  test('await using closes at the end of the block', async () => {
    const { lease, server, lifecycle } = bareLifecycle();
    await listenOn(server);
    {
      await using running = lifecycle;
      await running.ready;
    }
    expect([server.listening, lease.state]).toEqual([false, 'stopped']);
  });
});

test('over TLS: the address is https, a request in flight ends well, and nothing holds close() up', async () => {
  const authority = createAuthority();
  const leasehold = createLeasehold({ store: memoryStore() });
  const gate = Promise.withResolvers<void>();
  let begun = false;
  const server = createSecureServer(authority.issue(['IP:127.0.0.1']), (request, response) => {
    if (request.url === '/slow') {
      begun = true;
      void gate.promise.then(() => response.end('slow'));
    } else response.end('quick');
  });
  const lifecycle = leaseholdLifecycle(leasehold, server, { closeTimeout: '1m' });
  onTestFinished(() => lifecycle.close());
  const origin = (await listenOn(server)).replace('http', 'https');
  expect(leasehold.instance.address).toBe(origin);
  const agent = new Agent({ keepAlive: true, ca: authority.cert });
  onTestFinished(() => agent.destroy());
  const ask = async (path: string): Promise<string> => {
    const [answer] = (await once(get(`${origin}${path}`, { agent }), 'response')) as [IncomingMessage];
    return text(answer);
  };
  expect(await ask('/quick')).toBe('quick');
  const { port } = new URL(origin);
  const silent = [connect(Number(port), '127.0.0.1'), tlsConnect({ port: Number(port), host: '127.0.0.1', ca: authority.cert })];
  for (const socket of silent) onTestFinished(() => void socket.destroy());
  await Promise.all([once(silent[0] as never, 'connect'), once(silent[1] as never, 'secureConnect')]);
  const slow = ask('/slow');
  await expect.poll(() => begun).toBe(true);
  const closed = lifecycle.close();
  gate.resolve();
  expect(await slow).toBe('slow');
  await closed;
});

test('a server that the application closes itself gives the roles back', async () => {
  const { server, lease, lifecycle } = bareLifecycle();
  await lifecycle.ready;
  await listenOn(server);
  expect(lease.isHeld).toBe(true);
  server.close();
  await lifecycle.closed;
  expect(lease.isHeld).toBe(false);
});

describe('signals', () => {
  test('none is listened to unless it is named', () => {
    const before = process.listenerCount('SIGTERM');
    bareLifecycle();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  test('one that is named closes, and a second one is not listened to: it ends the process', async () => {
    const before = process.listenerCount('SIGUSR2');
    const { server, lease, lifecycle } = bareLifecycle({ signals: ['SIGUSR2'] });
    await Promise.all([listenOn(server), lifecycle.ready]);
    const gate = Promise.withResolvers<void>();
    const work = lease.whileHeld(() => gate.promise);
    expect(process.listenerCount('SIGUSR2')).toBe(before + 1);
    process.kill(process.pid, 'SIGUSR2');
    await expect.poll(() => lease.isHeld).toBe(false);
    expect(process.listenerCount('SIGUSR2')).toBe(before);
    gate.resolve();
    await Promise.all([work, lifecycle.closed]);
    expect([server.listening, lease.state]).toEqual([false, 'stopped']);
  });

  test('nothing of it is left after close()', async () => {
    const before = process.listenerCount('SIGUSR2');
    const { lifecycle } = bareLifecycle({ signals: ['SIGUSR2', 'SIGTERM'] });
    await lifecycle.close();
    expect(process.listenerCount('SIGUSR2')).toBe(before);
  });
});

describe('what cannot be', () => {
  const leasehold = createLeasehold({ store: memoryStore() });
  const thrownBy = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return error;
    }
  };

  test.each<[LeaseholdErrorCode, string, object]>([
    ['LEASEHOLD_INVALID_ADDRESS', 'advertise', { advertise: 'app-03' }],
    ['LEASEHOLD_INVALID_DURATION', 'closeTimeout', { closeTimeout: 'soon' }],
    ['LEASEHOLD_INVALID_OPTION', 'signal', { signal: 'SIGTERM' }],
    ['LEASEHOLD_INVALID_OPTION', 'signals', { signals: 'SIGTERM' }],
    ['LEASEHOLD_INVALID_OPTION', 'signals', { signals: ['SIGTREM'] }],
    ['LEASEHOLD_INVALID_OPTION', 'signals', { signals: ['SIGKILL'] }],
  ])('%s: %s', (code, option, options) => {
    const error = thrownBy(() => leaseholdLifecycle(leasehold, createServer(), options));
    expect(isLeaseholdError(error, code) && error.option).toBe(option);
  });

  test.each(hosts)('the application of $name in place of its server', ({ express }) => {
    const error = thrownBy(() => leaseholdLifecycle(leasehold, express() as never));
    expect(isLeaseholdError(error, 'LEASEHOLD_INVALID_OPTION') && error.message).toMatch(/give what app\.listen\(\)/);
  });

  test('a second lifecycle on one server', async () => {
    const { server, leasehold: own } = bareLifecycle();
    const error = thrownBy(() => leaseholdLifecycle(own, server));
    expect(isLeaseholdError(error, 'LEASEHOLD_ALREADY_REGISTERED')).toBe(true);
  });
});

describe.each(hosts)('$name', (host: Host) => {
  test('app.listen() and then the lifecycle, as applications do', async () => {
    const leasehold = createLeasehold({ store: memoryStore() });
    const lease = leasehold.role('maintenance');
    const app = host.express();
    app.get('/', (_request, response) => void response.send(String(lease.isHeld)));
    const server = app.listen(0, '127.0.0.1');
    const lifecycle = leaseholdLifecycle(leasehold, server);
    onTestFinished(() => lifecycle.close());
    await lifecycle.ready;
    await expect.poll(() => leasehold.instance.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(leasehold.instance.address ?? '')).text()).toBe('true');
  });

  test('the role goes over when the work under it has ended, and its request is answered', async () => {
    const trace: string[] = [];
    const gate = Promise.withResolvers<void>();
    const database = new MemoryDatabase();
    const holder = await startCopy(host, {
      database,
      label: 'holder',
      routes: ({ app, lease }) => {
        app.get('/maintenance/work', async (_request, response) => {
          const outcome = await lease.whileHeld(async (term) => {
            trace.push('work begins');
            term.signal.addEventListener('abort', () => trace.push(`aborted, held: ${lease.isHeld}`));
            await gate.promise;
            trace.push('work ends');
          });
          response.json(outcome);
        });
      },
    });
    const other = await startCopy(host, { database, label: 'other' });
    const answer = fetch(`${holder.origin}/maintenance/work`);
    await expect.poll(() => trace).toEqual(['work begins']);
    const closed = holder.lifecycle.close().then(() => trace.push('closed'));
    await expect.poll(() => trace).toEqual(['work begins', 'aborted, held: false']);
    expect(holder.server.listening).toBe(false);
    expect(other.lease.isHeld).toBe(false);
    gate.resolve();
    expect((await answer).status).toBe(200);
    await closed;
    expect(trace).toEqual(['work begins', 'aborted, held: false', 'work ends', 'closed']);
    await expect.poll(() => other.lease.isHeld).toBe(true);
  });

  test('the role goes over at once when nothing runs under it; a request in flight ends well, and then its connection', async () => {
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const { holder, other } = await startPair(host, {
      lifecycle: { closeTimeout: '1m' },
      routes: ({ app }) => {
        app.get('/slow', async (_request, response) => {
          begun++;
          await gate.promise;
          response.send('done');
        });
        app.get('/half', async (_request, response) => {
          begun++;
          response.write('first, ');
          await gate.promise;
          response.end('second');
        });
      },
    });
    const answers = ['/slow', '/half'].map((path) => fetch(`${holder.origin}${path}`));
    await expect.poll(() => begun).toBe(2);
    const closed = holder.lifecycle.close();
    await expect.poll(() => other.lease.isHeld).toBe(true);
    gate.resolve();
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    expect(texts).toEqual(['done', 'first, second']);
    await closed;
  });

  test('a request in flight that would take an event stream, among others, is none', async () => {
    const gate = Promise.withResolvers<void>();
    let begun = false;
    const copy = await startCopy(host, {
      routes: ({ app }) => {
        app.get('/events', (_request, response) => response.writeHead(200).write('data: x\n\n'));
        app.get('/either', async (_request, response) => {
          begun = true;
          await gate.promise;
          response.json('done');
        });
      },
    });
    const stream = await openStream(`${copy.origin}/events`);
    const answer = fetch(`${copy.origin}/either`, { headers: { accept: 'application/json, text/event-stream' } });
    await expect.poll(() => begun).toBe(true);
    const closed = copy.lifecycle.close();
    expect(await stream.ended).toBe('broken');
    gate.resolve();
    expect(await (await answer).json()).toBe('done');
    await closed;
  });

  test('pipelined requests in flight all get their answer', async () => {
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const copy = await startCopy(host, {
      routes: ({ app }) =>
        app.get('/piped/:name', async (request, response) => {
          begun.push(request.params.name);
          await gate.promise;
          response.send(`answer ${request.params.name}`);
        }),
    });
    const lines = ['first', 'second'].map((name) => `GET /piped/${name} HTTP/1.1\r\nHost: app.test\r\n`);
    const received = rawExchange(copy.origin, [lines.join('\r\n').slice(0, -2)]);
    await expect.poll(() => begun).toEqual(['first', 'second']);
    const closed = copy.lifecycle.close();
    gate.resolve();
    expect(await received).toMatch(/answer first[\s\S]*connection: close[\s\S]*answer second/i);
    await closed;
  });

  test('a request that does not end is cut at closeTimeout', async () => {
    let begun = false;
    const copy = await startCopy(host, {
      lifecycle: { closeTimeout: 50 },
      routes: ({ app }) => app.get('/never', () => (begun = true)),
    });
    const answer = fetch(`${copy.origin}/never`).then(
      () => 'answered',
      () => 'cut',
    );
    await expect.poll(() => begun).toBe(true);
    await copy.lifecycle.close();
    expect(await answer).toBe('cut');
  });

  test.each([
    ['ask', 'text/event-stream'],
    ['do not ask', '*/*'],
  ])(
    'event streams of clients that %s for one do not hold it up: those that end here, and those that run through',
    async (_, accept) => {
      const { holder, other } = await startPair(host, {
        lifecycle: { closeTimeout: '1m' },
        // With a field that was set before, every field can be asked for; without one, what `writeHead()` is given cannot.
        before: ({ app }) => app.disable('x-powered-by'),
        routes: ({ app, label }) =>
          app.get('/maintenance/events', (_request, response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${label}\n\n`);
          }),
      });
      const messages = forwardedTo(holder);
      const through = await openStream(`${other.origin}/maintenance/events`, accept);
      const here = await openStream(`${holder.origin}/maintenance/events`, accept);
      await expect.poll(() => through.text() + here.text()).toBe('data: holder\n\ndata: holder\n\n');
      await other.lifecycle.close();
      expect(await through.ended).toBe('broken');
      expect(messages).toMatchObject([{ outcome: 'stopping' }]);
      await holder.lifecycle.close();
      expect(await here.ended).toBe('broken');
    },
  );

  test.each([
    ['holder', 'which another copy forwards to it', 'Leasehold-Hop: maintenance;other;0', 'failover'],
    ['other', 'which it would forward', 'Accept: */*', 'stopping'],
  ] as const)('while the %s closes, a request %s is refused, and its connection closed', async (who, _what, field, reason) => {
    const gate = Promise.withResolvers<void>();
    let begun = false;
    const pair = await startPair(host, {
      routes: ({ app }) => {
        app.get('/slow', async (_request, response) => {
          begun = true;
          await gate.promise;
          response.send('slow');
        });
      },
    });
    const { origin, server, lifecycle } = pair[who];
    const slow = fetch(`${origin}/slow`);
    await expect.poll(() => begun).toBe(true);
    // Accepted before close(), and its request complete after.
    const accepted = once(server, 'connection');
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(`GET /maintenance/y HTTP/1.1\r\nHost: app.test\r\n${field}\r\n`);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    await accepted;
    const closed = lifecycle.close();
    expect(server.listening).toBe(false);
    socket.write('\r\n');
    await once(socket, 'end');
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 503 [\\s\\S]*"reason":"${reason}"`));
    expect(received).toMatch(/retry-after: [1-9]/i);
    expect(received).toMatch(/connection: close/i);
    gate.resolve();
    expect(await (await slow).text()).toBe('slow');
    await closed;
  });

  test('afterwards the next holder answers', async () => {
    const { holder, other } = await startPair(host, { routes: whoRoutes });
    await holder.lifecycle.close();
    await expect.poll(() => other.lease.isHeld).toBe(true);
    expect(await (await fetch(`${other.origin}/maintenance/who`)).json()).toEqual({ by: 'other' });
  });

  describe('upgrades', () => {
    /** Answers every upgrade that it hears of, as a WebSocket server does. */
    function acceptUpgrades({ server, label }: Copy): void {
      server.on('upgrade', (_request, socket) => {
        socket.on('error', () => {});
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${label}`);
      });
    }

    test('of the holder under a prefix, and of others elsewhere, belong to the other listeners', async () => {
      const { holder, other } = await startPair(host);
      for (const copy of [holder, other]) acceptUpgrades(copy);
      expect((await openUpgrade(holder.origin, '/maintenance/live')).text).toMatch(/^HTTP\/1\.1 101 [\s\S]*holder$/);
      expect((await openUpgrade(other.origin, '/live')).text).toMatch(/^HTTP\/1\.1 101 [\s\S]*other$/);
    });

    test('under a prefix on another copy reach the holder, and no listener of that copy sees them', async () => {
      const { holder, other } = await startPair(host);
      for (const copy of [holder, other]) acceptUpgrades(copy);
      expect((await openUpgrade(other.origin, '/maintenance/live')).text).toMatch(/^HTTP\/1\.1 101 [\s\S]*holder$/);
    });

    test('a tunnel does not hold up close() of the copy that it runs through', async () => {
      const { holder, other } = await startPair(host, { lifecycle: { closeTimeout: '1m' } });
      acceptUpgrades(holder);
      const { closed } = await openUpgrade(other.origin, '/maintenance/live');
      await other.lifecycle.close();
      await closed;
    });

    test('that the holder does not take get one whole answer, and no listener of the other copy sees them', async () => {
      const { other } = await startPair(host);
      acceptUpgrades(other);
      const answer = await rawExchange(other.origin, upgradeLines('/maintenance/live'));
      expect(answer).toMatch(/^HTTP\/1\.1 [45]\d\d /);
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    });

    test('a request that asks for one is a request like any other where nobody listens', async () => {
      const { holder, other } = await startPair(host, { routes: whoRoutes });
      const ask = (origin: string, path: string): Promise<string> =>
        rawExchange(origin, [`GET ${path} HTTP/1.1`, 'Host: app.test', 'Connection: Upgrade, close', 'Upgrade: h2c']);
      expect(await ask(other.origin, '/who')).toContain('{"by":"other"}');
      expect(await ask(holder.origin, '/maintenance/who')).toContain('{"by":"holder"}');
    });

    test('upgraded connections do not hold close() up', async () => {
      const { holder } = await startPair(host, { lifecycle: { closeTimeout: '1m' } });
      acceptUpgrades(holder);
      const { closed } = await openUpgrade(holder.origin, '/maintenance/live');
      await holder.lifecycle.close();
      await closed;
    });
  });
});
