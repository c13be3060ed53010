import type pg from 'pg';

export async function walPosition(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn');
  return rows[0]?.lsn ?? '';
}

export async function walSince(admin: pg.Client, lsn: string): Promise<number> {
  const { rows } = await admin.query<{ bytes: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 as bytes',
    [lsn],
  );
  return rows[0]?.bytes ?? Number.NaN;
}
