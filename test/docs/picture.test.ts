import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawFailover, readRecording } from '../../scripts/failover/draw.ts';
import { root } from './support/pages.ts';

const recording = readRecording();

test('the picture of the README is drawn from the recording beside it', () => {
  expect(readFileSync(join(root, 'docs/images/failover.svg'), 'utf8')).toBe(drawFailover(recording));
});

test('the recording keeps what the README promises', () => {
  const { beliefs, leases, events, leaseMs } = recording;
  expect(beliefs.map(({ token }) => token)).toEqual(beliefs.map((_, index) => index + 1));
  for (const [index, next] of beliefs.slice(1).entries()) {
    const before = beliefs[index];
    const row = leases[index];
    // Whoever acquires says so after the row did; whoever holds stops before the row does.
    expect(before?.until).toBeLessThan(row?.until ?? 0);
    expect(before?.until).toBeLessThan(next.from);
  }
  const at = (what: string): number => events.find((event) => event.what === what)?.at ?? Number.NaN;
  const handoverMs = (beliefs[1]?.from ?? 0) - at('SIGTERM');
  expect(handoverMs).toBeLessThanOrEqual(250);
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`(${handoverMs} ms in the picture)`);
  expect((beliefs[2]?.from ?? 0) - at('SIGKILL')).toBeLessThanOrEqual(leaseMs + 1_000);
});
