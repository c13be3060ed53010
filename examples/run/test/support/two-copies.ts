import { once } from 'node:events';
import { type PostgresServer, startPostgres } from '@leasehold/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromium, openInBrowser } from './browser.ts';
import { type Example, ExampleCopies, type ExampleCopy, holderThrough, runNow } from './copies.ts';
import { openStream } from '../../../../test/support/raw.ts';

export const LEASE_MS = 3_000;

/** What every example with a page does: two processes on a real PostgreSQL, of which the one that holds is stopped, then killed. */
export function testTwoCopies(example: Example): () => Promise<ExampleCopies> {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  const create = (): Promise<ExampleCopies> => ExampleCopies.on(postgres, example);

  test('the page of any copy shows what the holder does, and its button makes the holder run', async () => {
    const copies = await create();
    const [, second] = await copies.startPair();
    expect(await (await fetch(second.origin)).text()).toContain("new EventSource('/maintenance/events')");
    expect(await (await fetch(`${second.origin}/who`)).json()).toEqual({ label: 'second' });
    const { text } = await openStream(`${second.origin}/maintenance/events`);
    await expect.poll(text, { timeout: 5_000 }).toMatch(/^event: holder\n(?:\w+: .*\n)*data: {"by":"first","token":"\d+"}$/m);
    expect(await runNow(second, 'pressed')).toMatchObject({ status: 201, by: 'first', note: 'pressed' });
    await expect.poll(text).toMatch(/^data: {"by":"first","token":"\d+","note":"pressed"}$/m);
    await expect.poll(text, { timeout: 5_000 }).toContain('"note":"by the clock"');
    const { rows } = await copies.pool.query<{ instance: string }>('select distinct instance from maintenance_run');
    expect(rows).toEqual([{ instance: 'first' }]);
  });

  test('a copy that is told to end hands over at once, ends by itself, and the page goes on elsewhere', async () => {
    const [first, second] = await (await create()).startPair();
    const stream = await openStream(`${second.origin}/maintenance/events`);
    await expect.poll(stream.text, { timeout: 5_000 }).toContain('"by":"first"');
    const exited = once(first.process, 'exit');
    first.process.kill('SIGTERM');
    await expect.poll(() => holderThrough(second), { interval: 20, timeout: LEASE_MS / 2 }).toBe('second');
    // Nest sends itself the signal again at the end.
    expect(['0', 'SIGTERM']).toContain(String((await exited).find((how) => how !== null)));
    expect(first.output()).toContain('first has ended');
    await stream.ended;
    await goesOn(second, 'second');
  });

  test('a copy that is killed is replaced when its lease has run out, and tokens only rise', async () => {
    const copies = await create();
    const [first, second] = await copies.startPair();
    const stream = await openStream(`${second.origin}/maintenance/events`);
    await expect.poll(stream.text, { timeout: 5_000 }).toContain('"by":"first"');
    first.process.kill('SIGKILL');
    expect(await stream.ended).toBe('broken');
    const refused = await fetch(`${second.origin}/maintenance/runs`, { method: 'POST' });
    expect([refused.status, Number(refused.headers.get('retry-after')) >= 1]).toEqual([503, true]);
    await expect.poll(() => holderThrough(second), { timeout: LEASE_MS + 5_000 }).toBe('second');
    await goesOn(second, 'second');
    const { rows } = await copies.pool.query<{ fencing_token: string }>('select fencing_token from maintenance_run order by run');
    const tokens = rows.map(({ fencing_token: token }) => Number(token));
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
    expect(new Set(tokens).size).toBe(2);
  });

  // A browser is large, and not part of what this repository needs. Where Chromium is installed, the page is looked at with it.
  test.skipIf(chromium === null)('a browser shows the page, and comes back by itself when copies go', async () => {
    await browse(await create());
  });
  return create;
}

/** What a page reads that comes back now. */
async function goesOn(copy: ExampleCopy, by: string): Promise<void> {
  const stream = await openStream(`${copy.origin}/maintenance/events`);
  await expect.poll(stream.text, { timeout: 5_000 }).toMatch(new RegExp(`"by":"${by}".*"note":"by the clock"`));
}

async function browse(copies: ExampleCopies): Promise<void> {
  const [first, second] = await copies.startPair();
  const page = await openInBrowser(second.origin);
  const shows = (id: string, text: string): Promise<void> =>
    expect.poll(() => page.textOf(`#${id}`), { timeout: LEASE_MS + 15_000 }).toBe(text);
  await shows('through', 'second');
  await shows('by', 'first');
  await shows('state', 'connected');
  await page.evaluate("document.querySelector('button').click()");
  await expect.poll(() => page.textOf('output'), { timeout: 5_000 }).toMatch(/^done by first in term \d+$/);
  await expect.poll(() => page.evaluate("document.querySelectorAll('#track i.hand').length")).toBe(1);

  first.process.kill('SIGTERM');
  await shows('by', 'second');
  await shows('state', 'connected');
  expect(await page.textOf('#history li')).toMatch(/^first → second, in term \d+: \d+\.\d s after the last event$/);

  // Now the very copy that the page comes from is killed, and started again behind the same address.
  const next = await copies.start('first');
  second.process.kill('SIGKILL');
  await shows('state', 'reconnecting');
  await expect.poll(() => holderThrough(next), { timeout: LEASE_MS + 5_000 }).toBe('first');
  await copies.start('second', new URL(second.origin).port);
  await shows('by', 'first');
  await shows('state', 'connected');
  expect(await page.textOf('#history li')).toMatch(/^second → first, /);

  // The copy that the page asks stays, and has nothing but a 503 for it until the lease has run out.
  next.process.kill('SIGKILL');
  await shows('by', 'second');
  await shows('state', 'connected');
  expect(await page.textOf('#history li')).toMatch(/^first → second, /);
  expect(await page.evaluate("document.querySelectorAll('#track i.gap').length")).toBe(3);
  expect(page.errors()).toEqual([]);
}
