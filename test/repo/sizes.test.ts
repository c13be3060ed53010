import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const LONGEST_FILE = 260;
const USUAL_FILE = 200;

it('source files stay small enough to be read in one sitting', () => {
  const lengths = globSync('packages/*/src/**/*.ts', { cwd: root, exclude: ['**/*.generated.ts'] }).map((file) => ({
    file,
    lines: readFileSync(join(root, file), 'utf8').split('\n').length,
  }));
  expect(lengths.filter(({ lines }) => lines > LONGEST_FILE)).toEqual([]);
  const long = lengths.filter(({ lines }) => lines > USUAL_FILE);
  expect(long.length / lengths.length).toBeLessThanOrEqual(0.05);
});
