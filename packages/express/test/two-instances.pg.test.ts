import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { type Application, LEASE_MS, startApplication as start } from './support/application.ts';
import { type Host, hosts } from './support/hosts.ts';
import { openStream } from '../../../test/support/raw.ts';

const SCRIPT = fileURLToPath(new URL('support/application-process.ts', import.meta.url));

async function startApplication(host: Host, database: TestDatabase, label: string): Promise<Application> {
  const { connectionString, schema } = database;
  const application = await start(host, { connectionString, schema, label });
  onTestFinished(() => application.lifecycle.close());
  return application;
}

async function startProcess(host: Host, database: TestDatabase, label: string): Promise<{ child: ChildProcess; origin: string }> {
  const { connectionString, schema } = database;
  const execArgv = ['--conditions=@leasehold/source'];
  const child = fork(SCRIPT, [host.name, connectionString, schema, label], { execArgv });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [origin] = (await once(child, 'message')) as [string];
  return { child, origin };
}

async function knows({ lease }: Application, address: string): Promise<void> {
  await expect.poll(() => lease.currentHolderAddress, { timeout: 5_000 }).toBe(address);
}

async function whoAnswers(origin: string): Promise<string> {
  return (await fetch(`${origin}/maintenance/who`)).text();
}

describe.each(hosts)('$name', (host: Host) => {
  test('any instance accepts the request and the holder answers it', async ({ database }) => {
    const holder = await startApplication(host, database, 'holder');
    const other = await startApplication(host, database, 'other');
    await knows(other, holder.origin);
    expect([await whoAnswers(holder.origin), await whoAnswers(other.origin)]).toEqual(['holder', 'holder']);
    const guarded = await Promise.all([holder, other].map(({ origin }) => fetch(`${origin}/guarded`)));
    expect(guarded.map(({ status }) => status)).toEqual([200, 503]);
    const stream = await openStream(`${other.origin}/maintenance/events`);
    await expect.poll(() => stream.text()).toContain('data: holder\n\ndata: holder\n\n');
  });

  test('a process that is told to end hands the role over long before the lease would run out', async ({ database }) => {
    const { child, origin } = await startProcess(host, database, 'stopped');
    const other = await startApplication(host, database, 'other');
    await knows(other, origin);
    const stream = await openStream(`${other.origin}/maintenance/events`);
    await expect.poll(() => stream.text()).toContain('data: stopped');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await expect.poll(() => other.lease.isHeld, { interval: 5, timeout: LEASE_MS / 2 }).toBe(true);
    expect(await exited).toEqual([0, null]);
    expect(await stream.ended).toBe('broken');
    expect(await whoAnswers(other.origin)).toBe('other');
    const [term] = await database.query(`select ended_by from ${database.schema}.role_term order by fencing_token`);
    expect(term).toEqual({ ended_by: 'released' });
  });

  test('a killed holder is replaced when its lease has run out, and not before', async ({ database }) => {
    const { child, origin } = await startProcess(host, database, 'killed');
    const other = await startApplication(host, database, 'other');
    await knows(other, origin);
    const stream = await openStream(`${other.origin}/maintenance/events`);
    await expect.poll(() => stream.text()).toContain('data: killed');

    const killedAt = performance.now();
    child.kill('SIGKILL');
    expect(await stream.ended).toBe('broken');
    const refused = await fetch(`${other.origin}/maintenance/who`);
    expect([refused.status, Number(refused.headers.get('retry-after')) >= 1]).toEqual([503, true]);
    await expect.poll(() => other.lease.isHeld, { timeout: LEASE_MS + 5_000 }).toBe(true);
    expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + 1_000);
    const [early] = await database.query(
      `select l.acquired_at < t.ended_at as early, t.ended_by from ${database.schema}.role_term t join ${database.schema}.role_lease l using (role)`,
    );
    expect(early).toEqual({ early: false, ended_by: 'expired' });
    expect(await whoAnswers(other.origin)).toBe('other');
  });
});
