import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Figure } from '../../../test/support/figures.ts';
import { startShow, testInterrupts } from '../../run/test/support/interrupts.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const WITH_A_TARGET = [
  'untilEven@2',
  'untilEven@3',
  'untilEven@4',
  'longestOutageOnStop',
  'takeoverAfterKill',
  'untilEven@again',
  'devicesWithTwoOwners',
  'fallingTokens',
  'commandsByNonOwners',
  'movesAgainstLeast',
];

test('it plays to the end, meets every target, and leaves nothing behind', async () => {
  const show = await startShow(MAIN, ['--json', '--seed', '4']);
  const [code] = (await once(show.process, 'close')) as [number];
  const lines = show.output().trimEnd().split('\n');
  expect([code, lines.at(-2)], show.output()).toEqual([0, 'example:devices: ok']);
  const report = JSON.parse(lines.at(-1) ?? '') as { figures: Figure[] };
  expect(report).toMatchObject({ name: 'example:devices', ok: true, seed: 4, postgres: expect.stringMatching(/^\d+\./) });
  expect(report.figures.filter(({ target }) => target !== null).map(({ name }) => name)).toEqual(WITH_A_TARGET);
  const commands = report.figures.find(({ name }) => name === 'commands');
  expect(commands?.value).toBeGreaterThan(100);
  expect(await readdir(show.folder)).toEqual([]);
}, 240_000);

testInterrupts(MAIN, [
  ['SIGINT', 'start'],
  ['SIGINT', 'copy-A 32, copy-B 32'],
  ['SIGKILL', 'copy-A holds all 64 partitions'],
]);
