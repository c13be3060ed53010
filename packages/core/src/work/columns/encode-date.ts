const TAKEN = /^\d{4}-/;

/** The moment in UTC; null for what PostgreSQL would not take: an invalid date, and years of another length. */
export function isoText(date: Date): string | null {
  if (Number.isNaN(date.getTime())) return null;
  const text = date.toISOString();
  return TAKEN.test(text) ? text : null;
}

/**
 * The reading of this process's clock on the wall at that moment, for columns without a time zone. `pg` writes and reads these
 * so: written in UTC, a date would come back as another one.
 */
export function localText(date: Date): string | null {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return isoText(local)?.slice(0, -1) ?? null;
}
