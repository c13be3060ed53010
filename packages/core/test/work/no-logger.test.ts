import { sql, type SqlClient, workTable, type WorkTableOptions } from '@leasehold/core/work';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { spyLogger } from '../support/spy-logger.ts';
import { resolveWorkTable } from '../../src/work/resolve-work-table.ts';

const OPTIONS: WorkTableOptions = { table: 'delivries', orderBy: 'created_at', live: sql`completed_at is null` };
/** There is no such table: the look at its columns finds none. */
const empty: SqlClient = { query: () => Promise.resolve({ rows: [] }) };

function warnings(): string[] {
  const seen: string[] = [];
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void seen.push(String(warning)));
  onTestFinished(() => spy.mockRestore());
  return seen;
}

describe('a work table without a logger', () => {
  it('has the process warn that its worker can claim nothing, and why', async () => {
    const seen = warnings();
    const worker = workTable(OPTIONS).work(empty, { handler: () => {} });
    await vi.waitFor(() => expect(seen).not.toEqual([]));
    await worker.stop();
    expect(seen).toEqual([
      expect.stringMatching(/^work table "delivries": no rows can be claimed; .*there is no table "delivries".*logger/),
    ]);
  });

  it('has it warn once of each kind, and of nothing that went well', () => {
    const seen = warnings();
    const { logger } = resolveWorkTable(OPTIONS);
    logger.info({ table: 'a' }, 'it is well');
    logger.error({ table: 'a', err: new Error('boom') }, 'an outcome was refused: Error: boom');
    logger.error({ table: 'a', err: new Error('bang') }, 'an outcome was refused: Error: bang');
    logger.warn({ table: 'a', err: new Error('bang') }, 'a handler failed');
    expect(seen.map((text) => text.replace(/ \(.*/, ''))).toEqual([
      'work table "a": an outcome was refused: Error: boom',
      'work table "a": a handler failed: Error: bang',
    ]);
  });

  it('is silent where a logger hears it', async () => {
    const seen = warnings();
    const logger = spyLogger();
    const worker = workTable({ ...OPTIONS, logger }).work(empty, { handler: () => {} });
    await vi.waitFor(() => expect(logger.lines).not.toEqual([]));
    await worker.stop();
    expect(seen).toEqual([]);
  });
});
