import { expect, test } from 'vitest';
import { testTwoCopies } from '../../run/test/support/two-copies.ts';

const create = testTwoCopies({ name: 'express', args: ['--conditions=@leasehold/source', 'src/server.ts'] });

test('a guarded route answers on the holder alone', async () => {
  const pair = await (await create()).startPair();
  const answers = await Promise.all(pair.map(({ origin }) => fetch(`${origin}/internal/last-run`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 503]);
});
