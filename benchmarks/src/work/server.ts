import pg from 'pg';

/**
 * Nothing is synced to the disk: who commits for each row would wait for that most. A checkpoint is kept away, since the first
 * write to a page after one carries the whole page into the log; and autovacuum, which would be measured with whoever is at work.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  full_page_writes: 'on',
  checkpoint_timeout: '1d',
  max_wal_size: '32GB',
  autovacuum: 'off',
  shared_buffers: '256MB',
};

export const POSTGRES_FLAGS: readonly string[] = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Where the last checkpoint began. */
export async function lastCheckpoint(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ lsn: string }>('select redo_lsn::text as lsn from pg_control_checkpoint()');
  await client.end();
  return rows[0]?.lsn ?? '';
}
