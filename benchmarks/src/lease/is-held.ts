import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';

const PROGRAM = fileURLToPath(new URL('is-held-process.ts', import.meta.url));
const FLAGS = ['--conditions=@leasehold/source', '--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'];

interface Output {
  readonly rounds: readonly { readonly clocksMs: number; readonly isHeldMs: number }[];
  readonly calls: number;
  readonly bytes: readonly { readonly clocks: number; readonly isHeld: number }[];
}

/**
 * `isHeld` against the two bare clock reads that it needs. Of the bytes, those of the clock reads are told apart: V8 boxes
 * the result of `Date.now()`, whoever calls it.
 */
export async function measureIsHeld(): Promise<Figure[]> {
  progress('isHeld');
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, PROGRAM]);
  const { rounds, calls, bytes } = JSON.parse(stdout) as Output;
  const isHeldMs = median(rounds.map((round) => round.isHeldMs));
  return [
    figure('isHeldPerSecond', (calls * 1_000) / isHeldMs, '/s'),
    figure('isHeldSpeedOverClockReads', median(rounds.map((round) => round.clocksMs / round.isHeldMs)), 'x', '>= 0.8'),
    figure(
      'isHeldBytesOfItsOwn',
      Math.max(0, Math.round(median(bytes.map((round) => round.isHeld - round.clocks)))),
      'bytes',
      '= 0',
    ),
    figure('clockReadsBytes', Math.round(median(bytes.map((round) => round.clocks))), 'bytes'),
  ];
}
