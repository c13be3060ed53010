import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { runStatement } from '../../src/work/run-statement.ts';
import { endingPool } from '../support/ending-server.ts';

test('a session that the server ends in the moment in which it is lent fails the statement, and not the process', async () => {
  const limits = { clock: systemClock, timeoutMs: 5_000, what: 'test' };
  // Without a listener at that moment, the error of the client would be nobody's, and this run would end with it.
  const statement = runStatement(await endingPool(), { text: 'select 1', values: [] }, limits);
  await expect(statement).rejects.toThrow(/terminat|not queryable/i);
});
