/**
 * Microseconds of the machine's monotonic clock. Its origin is the machine's and not the process's, so that readings of
 * different processes can be compared: this is the clock of the proof that does not trust the database's.
 */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
