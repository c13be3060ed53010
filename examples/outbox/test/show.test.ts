import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Figure } from '../../../test/support/figures.ts';
import { startShow, testInterrupts } from '../../run/test/support/interrupts.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const WITH_A_TARGET = [
  'deliveringAfterStepDown',
  'deliveringAfterStop',
  'deliveringAfterKill',
  'lostOrders',
  'undelivered',
  'notOnce',
  'withoutOrder',
  'byNonHolders',
];

test('it plays to the end, meets every target, and leaves nothing behind', async () => {
  const show = await startShow(MAIN, ['--json', '--seed', '4']);
  const [code] = (await once(show.process, 'close')) as [number];
  const lines = show.output().trimEnd().split('\n');
  expect([code, lines.at(-2)], show.output()).toEqual([0, 'example:outbox: ok']);
  const report = JSON.parse(lines.at(-1) ?? '') as { figures: Figure[] };
  expect(report).toMatchObject({ name: 'example:outbox', ok: true, seed: 4, postgres: expect.stringMatching(/^\d+\./) });
  expect(report.figures.filter(({ target }) => target !== null).map(({ name }) => name)).toEqual(WITH_A_TARGET);
  const orders = report.figures.find(({ name }) => name === 'orders');
  expect(orders?.value).toBeGreaterThan(50);
  expect(await readdir(show.folder)).toEqual([]);
}, 240_000);

testInterrupts(MAIN, [
  ['SIGINT', 'start'],
  ['SIGINT', 'copy-A delivers what is for billing'],
  ['SIGKILL', 'copy-A delivers what is for billing'],
]);
