import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Each example is whole by itself; what does not depend on the framework is the same in all of them. */
it.each(['public/index.html', 'schema.sql'])('%s is the same in the examples of all frameworks', (file) => {
  const [first, ...others] = ['express', 'fastify', 'nestjs'].map((name) =>
    readFileSync(join(root, 'examples', name, file), 'utf8'),
  );
  expect(others).toEqual([first, first]);
});
