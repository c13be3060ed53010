/**
 * One instance of the recording, as a process of its own: competes for the role, and writes a line whenever what it
 * believes has changed.
 */
import { createLeasehold } from '../../packages/core/src/index.ts';
import { postgresStore } from '../../packages/core/src/postgres/index.ts';

/** One line of standard output. `until` is the deadline of the belief on the wall clock; null when not held. */
export interface BeliefLine {
  readonly at: number;
  readonly token: number | null;
  readonly until: number | null;
}

const LOOK_EVERY_MS = 2;

const [label = '', connectionString = '', leaseDuration = ''] = process.argv.slice(2);
const leasehold = createLeasehold({
  store: postgresStore({ connectionString }),
  instance: { label },
  leaseDuration: Number(leaseDuration),
});
const lease = leasehold.role('maintenance');
let last: BeliefLine = { at: 0, token: null, until: null };

function look(): void {
  const at = Date.now();
  const token = lease.fencingToken === null ? null : Number(lease.fencingToken);
  const line = { at, token, until: token === null ? null : at + lease.remainingMs };
  const renewed = Math.abs((line.until ?? 0) - (last.until ?? 0)) > 50;
  if (token !== last.token || renewed) {
    last = line;
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

setInterval(look, LOOK_EVERY_MS);
process.once('SIGTERM', () => {
  const stopped = leasehold.stop();
  look();
  void stopped.then(() => process.exit());
});
process.once('disconnect', () => process.exit());
await leasehold.start();
process.send?.('ready');
