import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { buildApplication, LEASE_MS } from './support/application.ts';
import { openStream } from '../../../test/support/raw.ts';

async function startApplication({ connectionString, schema }: TestDatabase, label: string): Promise<FastifyInstance> {
  const app = buildApplication({ connectionString, schema, label });
  onTestFinished(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

async function knows(app: FastifyInstance, address: string): Promise<void> {
  await expect.poll(() => app.roleLeases.get('maintenance').currentHolderAddress, { timeout: 5_000 }).toBe(address);
}

async function startPair(database: TestDatabase): Promise<{ holder: FastifyInstance; other: FastifyInstance }> {
  const holder = await startApplication(database, 'holder');
  const other = await startApplication(database, 'other');
  await knows(other, holder.listeningOrigin);
  return { holder, other };
}

async function whoAnswers(origin: string): Promise<string> {
  return (await fetch(`${origin}/maintenance/who`)).text();
}

test('any instance accepts the request and the holder answers it', async ({ database }) => {
  const { holder, other } = await startPair(database);
  expect(await whoAnswers(holder.listeningOrigin)).toBe('holder');
  expect(await whoAnswers(other.listeningOrigin)).toBe('holder');
});

test('an event stream comes through the instance that does not hold', async ({ database }) => {
  const { other } = await startPair(database);
  const stream = await openStream(`${other.listeningOrigin}/maintenance/events`);
  await expect.poll(() => stream.text()).toContain('data: holder\n\ndata: holder\n\n');
});

test('a graceful close hands the role over long before the lease would run out', async ({ database }) => {
  const { holder, other } = await startPair(database);
  const token = holder.roleLeases.get('maintenance').fencingToken ?? 0n;
  const closing = holder.close();
  await expect.poll(() => other.roleLeases.get('maintenance').isHeld, { interval: 5, timeout: LEASE_MS / 2 }).toBe(true);
  await closing;
  expect(other.roleLeases.get('maintenance').fencingToken).toBe(token + 1n);
  expect(await whoAnswers(other.listeningOrigin)).toBe('other');
  const [term] = await database.query(`select ended_by from ${database.schema}.role_term order by fencing_token`);
  expect(term).toEqual({ ended_by: 'released' });
});

test('a killed holder is replaced when its lease has run out, and not before', async ({ database }) => {
  const { connectionString, schema } = database;
  const script = fileURLToPath(new URL('support/application-process.ts', import.meta.url));
  const execArgv = ['--conditions=@leasehold/source'];
  const child = fork(script, [connectionString, schema, 'killed'], { execArgv });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [address] = (await once(child, 'message')) as [string];
  const other = await startApplication(database, 'other');
  await knows(other, address);
  const stream = await openStream(`${other.listeningOrigin}/maintenance/events`);
  await expect.poll(() => stream.text()).toContain('data: killed');

  const killedAt = performance.now();
  child.kill('SIGKILL');
  expect(await stream.ended).toBe('broken');
  const refused = await fetch(`${other.listeningOrigin}/maintenance/who`);
  expect([refused.status, Number(refused.headers.get('retry-after')) >= 1]).toEqual([503, true]);
  await expect.poll(() => other.roleLeases.get('maintenance').isHeld, { timeout: LEASE_MS + 5_000 }).toBe(true);
  expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + 1_000);
  const [early] = await database.query(
    `select l.acquired_at < t.ended_at as early, t.ended_by from ${schema}.role_term t join ${schema}.role_lease l using (role)`,
  );
  expect(early).toEqual({ early: false, ended_by: 'expired' });
  expect(await whoAnswers(other.listeningOrigin)).toBe('other');
});
