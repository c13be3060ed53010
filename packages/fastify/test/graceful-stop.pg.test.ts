import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { test, type TestDatabase } from '../../../test/support/database.ts';
import { buildApplication } from './support/application.ts';

const STOPS = 6;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

async function startApplication({ connectionString, schema }: TestDatabase, label: string): Promise<FastifyInstance> {
  const app = buildApplication({ connectionString, schema, label });
  onTestFinished(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

async function follows(other: FastifyInstance, holder: FastifyInstance): Promise<void> {
  const lease = other.roleLeases.get('maintenance');
  await expect.poll(() => lease.currentHolderAddress, { timeout: 10_000 }).toBe(holder.listeningOrigin);
}

async function ask(app: FastifyInstance, path: string): Promise<Answer> {
  const answer = await fetch(`${app.listeningOrigin}${path}`);
  return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') };
}

/** Asks until told to stop, a new request every 5 to 40 ms, whether the last has been answered or not. */
function askAllTheTime(app: FastifyInstance): { readonly stop: () => Promise<readonly Answer[]> } {
  const answers: Promise<Answer>[] = [];
  let timer: NodeJS.Timeout;
  const next = (): void => {
    answers.push(ask(app, '/maintenance/who'));
    timer = setTimeout(next, 5 + ((answers.length * 7) % 36));
  };
  const stop = (): Promise<readonly Answer[]> => {
    clearTimeout(timer);
    return Promise.all(answers);
  };
  next();
  onTestFinished(() => void stop().catch(() => {}));
  return { stop };
}

/** The holder's answer, or what a refusal says. */
function inShort({ status, text, retryAfter }: Answer): string {
  return status === 200 ? text : `${status} ${(JSON.parse(text) as { reason: string }).reason}, again in ${retryAfter}`;
}

const HANDING_OVER = new Set(['503 failover, again in 1', '503 no-holder, again in 1']);

/** Those of the answers that neither a holder gave nor somebody between two holders. */
async function strange(answers: Promise<readonly Answer[]>, labels: readonly string[]): Promise<string[]> {
  const told = new Set((await answers).map(inShort));
  return [...told].filter((one) => !labels.includes(one) && !HANDING_OVER.has(one));
}

test('graceful stops cost refusals that say to come again in a second, and nothing else', async ({ database }) => {
  const watcher = await startApplication(database, 'watcher');
  await watcher.leasehold.standAside();
  const labels = ['copy-0'];
  let holder = await startApplication(database, 'copy-0');
  await follows(watcher, holder);
  const load = askAllTheTime(watcher);
  for (let stop = 1; stop <= STOPS; stop += 1) {
    const label = `copy-${stop}`;
    labels.push(label);
    const successor = await startApplication(database, label);
    await holder.close();
    await follows(watcher, successor);
    await expect.poll(async () => inShort(await ask(watcher, '/maintenance/who'))).toBe(label);
    holder = successor;
  }
  expect(await strange(load.stop(), labels)).toEqual([]);
});

test('the copy that takes over meets no closed door either', async ({ database }) => {
  let holder = await startApplication(database, 'copy-0');
  for (let stop = 1; stop <= STOPS; stop += 1) {
    const successor = await startApplication(database, `copy-${stop}`);
    await follows(successor, holder);
    const load = askAllTheTime(successor);
    await holder.close();
    await expect.poll(() => successor.roleLeases.get('maintenance').isHeld).toBe(true);
    expect(await strange(load.stop(), [`copy-${stop - 1}`, `copy-${stop}`])).toEqual([]);
    holder = successor;
  }
});

test('while work drains the copy that stops answers: under the prefixes for who holds, elsewhere as ever', async ({
  database,
}) => {
  const holder = await startApplication(database, 'holder');
  const other = await startApplication(database, 'other');
  await follows(other, holder);
  const gate = Promise.withResolvers<void>();
  const work = holder.roleLeases.get('maintenance').whileHeld(() => gate.promise);
  const load = askAllTheTime(other);
  const closed = holder.close();
  await expect.poll(() => holder.roleLeases.get('maintenance').state).toBe('stopped');
  expect(inShort(await ask(other, '/maintenance/who'))).toBe('503 failover, again in 1');
  expect(inShort(await ask(holder, '/maintenance/who'))).toBe('503 no-holder, again in 1');
  expect(await ask(holder, '/who')).toMatchObject({ status: 200, text: 'holder' });
  gate.resolve();
  await Promise.all([work, closed]);
  await expect.poll(() => other.roleLeases.get('maintenance').isHeld).toBe(true);
  expect(await strange(load.stop(), ['holder', 'other'])).toEqual([]);
});
