import type { Examination } from './examination.ts';
import { type Finding, finding } from './findings.ts';

/** A handler's statement that goes on after its lease works beside the next worker. */
export async function examineTimeouts({ leaseMs, ask }: Examination): Promise<Finding[]> {
  if (leaseMs === null) return [];
  const text = `select setting::float8 as ms from pg_settings where name = 'statement_timeout'`;
  const [{ ms } = { ms: 0 }] = await ask<{ ms: number }>(text);
  if (ms > 0 && ms <= leaseMs) return [];
  const message = `statement_timeout is ${ms === 0 ? 'off' : `${ms} ms`} on this connection, and the lease is ${leaseMs} ms`;
  return [
    finding(
      'statement-outlasts-lease',
      message,
      'Set statement_timeout for the workers’ connections to less than the lease, or lease for longer.',
    ),
  ];
}
