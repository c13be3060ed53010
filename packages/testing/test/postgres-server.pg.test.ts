import pg from 'pg';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, startTcpProxy } from '../src/index.ts';
import { processesNaming, tracesOf, whatIsLeft } from './support/traces.ts';

const PATIENT = { timeout: 10_000, interval: 20 };

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function setting(connectionString: string, name: string): Promise<string> {
  const { rows } = await (await connected(connectionString)).query('select current_setting($1) as value', [name]);
  return rows[0].value;
}

describe('a running server', () => {
  let server: PostgresServer;

  beforeEach(async () => {
    server = await startPostgres({ postgresFlags: ['-c', 'max_connections=42'] });
    return () => server.stop();
  });

  test('listens on loopback alone, with the given flags on top of its own', async () => {
    expect(await setting(server.connectionString, 'listen_addresses')).toBe('127.0.0.1');
    expect(await setting(server.connectionString, 'max_connections')).toBe('42');
    expect(await setting(server.connectionString, 'fsync')).toBe('off');
    expect(await setting(server.connectionString, 'server_version')).toContain(server.version);
    expect(new URL(server.connectionString).port).toBe(String(server.port));
  });

  test('wants its password', async () => {
    const url = new URL(server.connectionString);
    url.password = 'wrong';
    await expect(connected(url.href)).rejects.toMatchObject({ code: '28P01' });
  });

  test('creates databases from a template and drops them under open connections', async () => {
    const template = await connected(await server.createDatabase('the "template"'));
    await template.query('create table numbers as select 7 as n');
    await template.end();
    const copy = await connected(await server.createDatabase('copy', 'the "template"'));
    expect((await copy.query('select n from numbers')).rows).toEqual([{ n: 7 }]);
    await server.dropDatabase('copy');
    await server.dropDatabase('copy');
    await expect(copy.query('select 1')).rejects.toThrow();
  });

  test.each(['fast', 'immediate'] as const)('restarts (%s) on the same port with what was committed', async (mode) => {
    const client = await connected(server.connectionString);
    await client.query('create table numbers as select 7 as n');
    await server.restart({ mode });
    await expect(client.query('select 1')).rejects.toThrow();
    const next = await connected(server.connectionString);
    expect((await next.query('select n from numbers')).rows).toEqual([{ n: 7 }]);
    expect(await server.log()).toContain(`received ${mode} shutdown request`);
  });

  test('answers nothing while it is frozen, and everything afterwards', async () => {
    const client = await connected(server.connectionString);
    await server.freeze();
    let answered = false;
    const answer = client.query('select 1 as one').then(({ rows }) => {
      answered = true;
      return rows;
    });
    const late = new pg.Client({ connectionString: server.connectionString, connectionTimeoutMillis: 300 });
    await expect(late.connect()).rejects.toThrow('timeout');
    expect(answered).toBe(false);
    server.thaw();
    expect(await answer).toEqual([{ one: 1 }]);
  });

  test('loses the reply of a statement that it committed, behind the proxy', async () => {
    await using proxy = await startTcpProxy({ targetPort: server.port });
    const client = await connected(proxy.connectionString(server.connectionString));
    await proxy.dropReplies();
    const lost = expect(client.query('create table numbers as select 7 as n')).rejects.toThrow();
    const observer = await connected(server.connectionString);
    await vi.waitFor(() => observer.query('table numbers'), PATIENT);
    await proxy.cut();
    await lost;
  });

  test('leaves no process and no folder when it is stopped, frozen or not', async () => {
    const traces = await tracesOf(server);
    await server.freeze();
    await Promise.all([server.stop(), server.stop()]);
    expect(await whatIsLeft(traces)).toEqual([]);
    await expect(server.restart({ mode: 'fast' })).rejects.toMatchObject({ code: 'LEASEHOLD_STOPPED' });
  });
});

test('says why it does not start, and leaves nothing', async () => {
  const flags = ['-c', 'shared_buffers=much'];
  await expect(startPostgres({ postgresFlags: flags })).rejects.toThrow(
    /did not start: [^]*invalid value for parameter "shared_buffers"/,
  );
  await expect(startPostgres({ embedded: 'embedded-nothing' })).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_OPTION' });
  expect(await processesNaming('shared_buffers=much')).toEqual([]);
});
