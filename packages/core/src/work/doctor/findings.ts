export type Severity = 'error' | 'warning' | 'info';

/**
 * Everything that a doctor may find, by its stable code. The text is the meaning that `docs/reference/work-tables.md` prints; a test
 * fails when the two differ. An error keeps rows from being claimed or makes every claim slow; a warning will.
 */
export const findings = {
  'table-unfit': {
    severity: 'error',
    meaning: 'The table or a column is missing, is of the wrong type, may be NULL, or its id is not unique.',
  },
  'live-invalid': { severity: 'error', meaning: 'PostgreSQL does not take `live` as a condition on this table.' },
  'live-not-immutable': {
    severity: 'error',
    meaning: '`live` calls something that is not immutable, and can be the filter of no index.',
  },
  'claim-index-missing': {
    severity: 'error',
    meaning: 'There is no claim index of the present definition: each claim reads the whole table.',
  },
  'claim-index-invalid': {
    severity: 'error',
    meaning: 'A concurrent build of the claim index has failed, or is still under way.',
  },
  'claim-index-unused': { severity: 'warning', meaning: 'The planner does not use the claim index for a claim.' },
  'claim-index-bloated': { severity: 'warning', meaning: 'The claim index is many times larger than its live rows need.' },
  'index-stale': { severity: 'warning', meaning: 'An index or check of an earlier definition is left: every write pays for it.' },
  'check-missing': { severity: 'warning', meaning: 'A check that ddl() adds is missing, or was never validated.' },
  'rows-out-of-reach': {
    severity: 'warning',
    meaning: 'Live rows are leased for longer than any lease is, or due in more than ten years.',
  },
  'old-snapshot': {
    severity: 'warning',
    meaning: 'An old transaction, prepared transaction or replication slot keeps dead row versions from being removed.',
  },
  'dead-rows': {
    severity: 'warning',
    meaning: 'The table has more dead row versions than half of its rows: claims step over them.',
  },
  'autovacuum-off': { severity: 'warning', meaning: 'Autovacuum is off for the table or the server.' },
  'autovacuum-default': { severity: 'info', meaning: 'A large table is vacuumed only when a fifth of it is dead.' },
  'never-analyzed': {
    severity: 'info',
    meaning: 'PostgreSQL has no statistics of the table, and guesses how many rows are due.',
  },
  'statement-outlasts-lease': { severity: 'info', meaning: 'The server lets a statement run for longer than the lease.' },
  'purge-index-missing': {
    severity: 'info',
    meaning: 'Many finished rows are kept, and no purge index finds the oldest of them.',
  },
} as const;

export type FindingCode = keyof typeof findings;

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** What is so, with names and numbers. */
  readonly message: string;
  /** What to do, as SQL where that is all there is to it. */
  readonly fix: string;
}

export function finding(code: FindingCode, message: string, fix: string): Finding {
  return { code, severity: findings[code].severity, message, fix };
}
