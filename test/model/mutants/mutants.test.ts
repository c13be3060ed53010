import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

const core = join(import.meta.dirname, '../../../packages/core/src');

/** A mutant that does not apply proves nothing. When core changes, its mutant changes with it; then run `run.ts` again. */
test.each(mutants)('$file still has the text that "$what" replaces', ({ file, find }) => {
  expect(readFileSync(join(core, file), 'utf8').split(find).length - 1).toBe(1);
});
