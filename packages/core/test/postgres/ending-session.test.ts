import { withFence } from '@leasehold/core/postgres';
import { expect, test } from 'vitest';
import { endingPool } from '../support/ending-server.ts';

test('a session that the server ends in the moment in which it is lent fails withFence(), and not the process', async () => {
  const term = { role: 'mail', fence: () => Promise.resolve() };
  const work = withFence(await endingPool(), term as never, () => Promise.resolve('written'));
  await expect(work).rejects.toThrow(/terminat|not queryable/i);
});
