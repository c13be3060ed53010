import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { median } from '../support/median.ts';
import { progress } from '../support/progress.ts';

const PROGRAM = fileURLToPath(new URL('resolve-process.ts', import.meta.url));
const FLAGS = ['--conditions=@leasehold/source', '--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'];

export interface ResolveOutput {
  readonly calls: number;
  readonly bigIntCalls: number;
  /** In milliseconds, for `calls` keys; the hash of the definition for `bigIntCalls`. */
  readonly rounds: readonly {
    readonly hash: number;
    readonly resolve: number;
    readonly scoped: number;
    readonly bigInt: number;
  }[];
  /** For one call. */
  readonly bytes: readonly { readonly resolve: number; readonly scoped: number }[];
}

/** `resolve` against the bare hash that it needs, and the hash against its definition in BigInt. */
export async function measureResolve(): Promise<Figure[]> {
  progress('resolve');
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, PROGRAM]);
  const { calls, bigIntCalls, rounds, bytes } = JSON.parse(stdout) as ResolveOutput;
  const resolveMs = median(rounds.map(({ resolve }) => resolve));
  const perCall = bytes.map(({ resolve, scoped }) => Math.max(resolve, scoped));
  return [
    figure('resolvePerSecond', (calls * 1_000) / resolveMs, '/s'),
    figure('scopedResolvePerSecond', (calls * 1_000) / median(rounds.map(({ scoped }) => scoped)), '/s'),
    figure('resolveSpeedOverHashAlone', median(rounds.map(({ hash, resolve }) => hash / resolve)), 'x', '>= 0.7'),
    figure('hashSpeedOverBigInt', median(rounds.map(({ hash, bigInt }) => bigInt / bigIntCalls / (hash / calls))), 'x', '>= 10'),
    figure('resolveBytes', Math.max(0, Math.round(median(perCall))), 'bytes', '= 0'),
  ];
}
