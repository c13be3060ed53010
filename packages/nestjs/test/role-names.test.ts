import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const pathTo = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

test('with RegisteredRoles augmented, a misspelt role name does not compile', async () => {
  const run = promisify(execFile)(pathTo('../../../node_modules/.bin/tsc'), ['-p', pathTo('../test-types')]);
  const printed = await run.then(
    ({ stdout }) => stdout,
    (error: Error & { stdout?: string }) => error.stdout ?? error.message,
  );
  expect(printed).toBe('');
}, 60_000);
